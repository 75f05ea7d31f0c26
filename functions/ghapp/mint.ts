/** Mints tokens, and checks that they do not exceed what the App allows. */
import { BlockedError, type Context, type Stored } from "denrei";
import { type GitHubAppClient, type InstallationToken, retryMillis } from "denrei/github";
import type { App } from "./connect.ts";
import type { Installation } from "./kinds.ts";
import { type Rule, refusalOfAccess, type TokenAccess } from "./policy.ts";
import { refreshTime } from "./refreshtime.ts";
import { withNewNames } from "./renamedrepository.ts";
import { changeOf } from "./renewal.ts";
import { revoke } from "./revoke.ts";
import type { IssuedToken } from "./secret.ts";

/** Inputs of a token request. */
export interface MintOptions {
  readonly client: GitHubAppClient;
  readonly app: App;
  readonly installation: Stored<Installation>;
  /** The App's rules that allow the Installation; undefined for an App that needs no rules. */
  readonly rules: readonly Rule[] | undefined;
  /** Undefined: all permissions of the installation. */
  readonly permissions: Readonly<Record<string, string>> | undefined;
  readonly ctx: Context;
}

/**
 * Mints a token. Revokes it at once unless the App certainly allows it. Throws a `GitHubError`, or a `BlockedError` when the token
 * is not allowed.
 */
export async function mint(options: MintOptions): Promise<IssuedToken> {
  const { client, app, installation, rules, permissions, ctx } = options;
  const { spec } = installation;
  ctx.assertOwned();
  const issued = ctx.now();
  const scope = {
    repositoryIds: spec.repositoryIDs,
    // Users may write names with the owner, but GitHub expects them without.
    repositories: spec.repositories?.map((name) => name.slice(name.lastIndexOf("/") + 1)),
    permissions,
  };
  const made = await client
    .mintToken(spec.installationID, scope, ctx.signal)
    .catch(async (error: unknown) => Promise.reject(await withNewNames(error, options)));
  if (rules !== undefined) {
    try {
      const refusal = refusalOfAccess(rules, await accessOf(made, { client, installation, ctx }));
      if (refusal !== undefined) throw notAllowed(app, refusal);
    } catch (error) {
      await revoke(client, [made.token], ctx);
      throw error;
    }
  }
  const expires = made.expiresAt.getTime();
  const refresh = refreshTime({ issued, expires }, 1000 * (spec.refreshBeforeSeconds ?? 600));
  ctx.log.info({ expiresAt: made.expiresAt.toISOString() }, "token issued");
  const isNamed = [...(spec.repositories ?? []), ...(spec.repositoryIDs ?? [])].length > 0;
  return {
    ...{ token: made.token, issued, expires, refresh, change: changeOf(installation) },
    ...(isNamed && made.repositories && { repositories: [...made.repositories] }),
  };
}

/** What a token can access. GitHub lists its repositories unless it covers all of the account's. */
async function accessOf(
  { repositories }: InstallationToken,
  { client, installation, ctx }: Pick<MintOptions, "client" | "installation" | "ctx">,
): Promise<TokenAccess> {
  if (repositories !== undefined) return { repositories: repositories.map(({ fullName }) => fullName) };
  const { account } = await client.installation(installation.spec.installationID, ctx.signal);
  if (account === undefined) return { beyond: "all of an account that GitHub does not name" };
  return account.type === "Enterprise"
    ? { beyond: `all of the enterprise ${account.login}` }
    : { allOf: account.login };
}

const reason = "NotAllowed";

/** The error for an Installation that the App does not allow. */
export const notAllowed = ({ kind, metadata }: App, refusal: string): BlockedError =>
  new BlockedError(
    reason,
    `the ${kind} ${metadata.name} does not allow this Installation: ${refusal}. The owner of the App can allow it in spec.allowed.`,
    retryMillis,
  );

export const isNotAllowed = (error: unknown): boolean =>
  error instanceof BlockedError && error.reason === reason;
