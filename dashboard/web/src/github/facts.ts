/** Installations and Apps in words. Pure. */
import type { GitHubApp, Installation } from "@denrei/functions/ghapp/kinds";
import { factsText as text } from "./text.ts";

type Spec = Installation["spec"];

/** The repositories that the token covers. */
export function repositoriesOf({ repositories, repositoryIDs }: Spec): string {
  if (repositories?.length) return repositories.join(", ");
  if (repositoryIDs?.length) return text.ids(repositoryIDs);
  return text.allRepositories;
}

/** The permissions of the token. */
export function permissionsOf({ permissions }: Spec): string {
  const named = Object.entries(permissions ?? {});
  return named.length === 0
    ? text.allPermissions
    : named.map(([name, level]) => `${name}: ${level}`).join(", ");
}

/** The public page of an App, on github.com or on a GitHub Enterprise server. */
export const appPage = ({ url }: GitHubApp["spec"], slug: string | undefined): string | undefined =>
  slug && (url ? `${url.replace(/\/$/, "")}/github-apps/${slug}` : `https://github.com/apps/${slug}`);
