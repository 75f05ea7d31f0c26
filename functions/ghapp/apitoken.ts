/**
 * Tokens for GitHub's API. A worker mints them with the App's key and keeps them in memory. Users who can read Secrets of the
 * namespace, or run builds there, cannot get them.
 */
import { type Context, digestOf, type PolicyRule, Recent, type Stored } from "denrei";
import { withGitHub } from "denrei/github";
import { clientOf, keyOf } from "./connect.ts";
import { appOf, rulesOf } from "./granting.ts";
import type { Installation } from "./kinds.ts";
import { mint, notAllowed } from "./mint.ts";
import { group } from "./names.ts";
import { type Access, apiPermissionsOf } from "./permissions.ts";
import { changeOf } from "./renewal.ts";

export { Installation } from "./kinds.ts";
export type { Access } from "./permissions.ts";

/** A token for the API of one GitHub server. */
export interface ApiToken {
  readonly token: string;
  /** The web address of a GitHub Enterprise Server; undefined for github.com. */
  readonly url: string | undefined;
  /** Discards the token after GitHub refused it. */
  reject(): void;
}

/** Permissions of a function that mints tokens, in addition to its watches of Installations and Secrets. */
export const apiTokenPermissions: readonly PolicyRule[] = [
  { apiGroups: [group], resources: ["githubapps", "clustergithubapps"], verbs: ["get"] },
  { apiGroups: [""], resources: ["namespaces"], verbs: ["get"] },
];

const hourMillis = 3_600_000;
/** Minimum remaining lifetime of a token that is used. Milliseconds. */
const minRemainingMillis = 300_000;

/** Tokens of this process. They are stored nowhere else. */
const tokens = new Recent<{ readonly token: string; readonly expires: number }>({
  keptMillis: hourMillis,
  limit: 1000,
});

/** Whether functions mint their own tokens for GitHub's API instead of using the one in the Installation's Secret. */
export const hasApiTokens = ({ spec }: Stored<Installation>): boolean => spec.apiPermissions !== undefined;

/** A token of an Installation for which {@link hasApiTokens} is true. Throws a `BlockedError` when the App does not allow it, or GitHub refuses. */
export async function apiTokenOf(
  installation: Stored<Installation>,
  access: Access,
  ctx: Context,
): Promise<ApiToken> {
  const app = await appOf(installation, ctx);
  const rules = await rulesOf(app, installation, ctx);
  if (typeof rules === "string") throw notAllowed(app, rules);
  // The token depends on the rules, the spec, the access, and the installation.
  const { uid } = installation.metadata;
  const id = digestOf(
    [uid, installation.spec, changeOf(installation), app.metadata.uid, app.spec, access],
    32,
  );
  const url = app.spec.url || undefined;
  const reject = () => tokens.delete(id);
  const kept = tokens.get(id);
  if (kept !== undefined && kept.expires - ctx.now() > minRemainingMillis)
    return { token: kept.token, url, reject };
  const client = clientOf(app, await keyOf(app, ctx));
  const permissions = apiPermissionsOf(installation.spec, access);
  const issued = await withGitHub("Key", () => mint({ client, app, installation, rules, permissions, ctx }));
  tokens.set(id, issued);
  return { token: issued.token, url, reject };
}
