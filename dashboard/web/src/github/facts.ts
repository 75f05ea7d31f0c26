/** What an Installation and an App say, in words. Pure. */
import type { GitHubApp, Installation } from "../../../../functions/ghapp/kinds.ts";

type Spec = Installation["spec"];

/** Which repositories its token is good for. */
export function repositoriesOf({ repositories, repositoryIDs }: Spec): string {
  if (repositories?.length) return repositories.join(", ");
  if (repositoryIDs?.length) return `by id: ${repositoryIDs.join(", ")}`;
  return "all of the installation";
}

/** What its token may do. */
export function permissionsOf({ permissions }: Spec): string {
  const named = Object.entries(permissions ?? {});
  return named.length === 0
    ? "all that the installation may"
    : named.map(([name, level]) => `${name}: ${level}`).join(", ");
}

/** Where an App shows itself, on github.com or on a server of one's own. */
export const appPage = ({ url }: GitHubApp["spec"], slug: string | undefined): string | undefined =>
  slug && (url ? `${url.replace(/\/$/, "")}/github-apps/${slug}` : `https://github.com/apps/${slug}`);
