/** Finds the App of an Installation, and checks that it allows the Installation. */
import { BlockedError, type Context, type Kind, Namespace, type Stored } from "denrei";
import { retryMillis } from "denrei/github";
import type { App } from "./connect.ts";
import { ClusterGitHubApp, GitHubApp, type Installation } from "./kinds.ts";
import { allPermissions } from "./permissions.ts";
import { type Rule, rulesFor } from "./policy.ts";

/** The App of an Installation. Throws a `BlockedError` if it is missing. */
export async function appOf(
  { metadata, spec }: Stored<Installation>,
  { read, live }: Pick<Context, "read" | "live">,
): Promise<App> {
  const { kind, name } = spec.appRef;
  const find = async <T extends GitHubApp | ClusterGitHubApp>(of: Kind<T>) =>
    (await read.get(of, name)) ?? (await live.get(of, name));
  const found: App | undefined = kind === "GitHubApp" ? await find(GitHubApp) : await find(ClusterGitHubApp);
  if (found !== undefined) return found;
  throw new BlockedError(
    "AppNotFound",
    `found no ${kind} ${name}${kind === "GitHubApp" ? ` in ${metadata.namespace}` : ""}`,
    retryMillis,
  );
}

/**
 * The App's rules that allow the Installation, or the reason why none does. Undefined for a GitHubApp without rules, which allows
 * every Installation in its namespace.
 */
export async function rulesOf(
  app: App,
  { metadata, spec }: Stored<Installation>,
  ctx: Context,
): Promise<readonly Rule[] | undefined | string> {
  if (app.spec.allowed === undefined && app.metadata.namespace !== undefined) return undefined;
  const rules: readonly Rule[] = app.spec.allowed ?? [];
  const namespace = metadata.namespace ?? "";
  const labels = rules.some(({ namespaceSelector }) => namespaceSelector !== undefined)
    ? await labelsOf(namespace, ctx)
    : {};
  return rulesFor(rules, {
    namespace,
    labels,
    installationID: spec.installationID,
    permissions: allPermissions(spec),
  });
}

/** Asks the API server if the bus lacks the namespace, so that a namespace that is not published yet does not revoke a token. */
const labelsOf = async (
  namespace: string,
  { read, live }: Context,
): Promise<Readonly<Record<string, string>>> =>
  ((await read.get(Namespace, namespace)) ?? (await live.get(Namespace, namespace)))?.metadata.labels ?? {};
