/** Asking GitHub for a token, and seeing that it is not good for more than the App allows. */
import type { GitHubAppClient, InstallationToken } from "../../bus/github/app.ts";
import { patience } from "../../bus/github/blocked.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import type { Context } from "../../bus/worker/function.ts";
import type { App } from "./connect.ts";
import type { Installation } from "./kinds.ts";
import { type Reach, type Rule, refusalOfReach } from "./policy.ts";
import { refreshTime } from "./refresh.ts";
import { namingRenamed } from "./renamed.ts";
import { changeOf } from "./renewal.ts";
import { revoke } from "./revoke.ts";
import type { IssuedToken } from "./secret.ts";

/** What a token is asked for with. */
export interface MintOptions {
  readonly client: GitHubAppClient;
  readonly app: App;
  readonly installation: Stored<Installation>;
  /** Those of the App's rules that allow the Installation; undefined where the App has none and needs none. */
  readonly rules: readonly Rule[] | undefined;
  /** Undefined: all that the installation may. */
  readonly permissions: Readonly<Record<string, string>> | undefined;
  readonly ctx: Context;
}

/**
 * Makes a token. One of which it is not certain that the App allows it is ended at once. Throws a `GitHubError`, and a
 * `BlockedError` when it is not allowed.
 */
export async function mint(options: MintOptions): Promise<IssuedToken> {
  const { client, app, installation, rules, permissions, ctx } = options;
  const { spec } = installation;
  ctx.assertOwned();
  const issued = ctx.now();
  const scope = {
    repositoryIds: spec.repositoryIDs,
    // People write names with their owner, GitHub wants them without.
    repositories: spec.repositories?.map((name) => name.slice(name.lastIndexOf("/") + 1)),
    permissions,
  };
  const made = await client
    .mintToken(spec.installationID, scope, ctx.signal)
    .catch(async (error: unknown) => Promise.reject(await namingRenamed(error, options)));
  if (rules !== undefined) {
    try {
      const refusal = refusalOfReach(rules, await reachOf(made, { client, installation, ctx }));
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

/** What a token is good for: GitHub names the repositories, unless they are all of the account's. */
async function reachOf(
  { repositories }: InstallationToken,
  { client, installation, ctx }: Pick<MintOptions, "client" | "installation" | "ctx">,
): Promise<Reach> {
  if (repositories !== undefined) return { repositories: repositories.map(({ fullName }) => fullName) };
  const { account } = await client.installation(installation.spec.installationID, ctx.signal);
  if (account === undefined) return { beyond: "all of an account that GitHub does not name" };
  return account.type === "Enterprise"
    ? { beyond: `all of the enterprise ${account.login}` }
    : { allOf: account.login };
}

const reason = "NotAllowed";

/** The App does not allow what an Installation asks for. */
export const notAllowed = ({ kind, metadata }: App, refusal: string): BlockedError =>
  new BlockedError(
    reason,
    `the ${kind} ${metadata.name} does not allow this Installation: ${refusal}. Who looks after the App can allow it in spec.allowed.`,
    patience,
  );

export const isNotAllowed = (error: unknown): boolean =>
  error instanceof BlockedError && error.reason === reason;
