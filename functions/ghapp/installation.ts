/**
 * Installation: keeps a token of a GitHub App in a Secret, and refreshes it in time.
 *
 * Whether there is something to do is read from the Secret itself: what its token was made for, whether it is as it was
 * written, and when it is to be refreshed. One that is as it should be costs no call of GitHub and no write. When GitHub says
 * that the installation or a repository has changed, that is noted, and another token is made at once: what the one before may
 * do is not known. That one replica at a time makes a token is the queue's doing.
 */

import { blockedBy, patience } from "../../bus/github/blocked.ts";
import { GitHubError, GitHubRefusedError } from "../../bus/github/errors.ts";
import { Namespace, Secret } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { keyText, type ObjectKey } from "../../bus/subjects.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import { type Context, defineFunction, type Result } from "../../bus/worker/function.ts";
import { type App, clientOf, keyOf } from "./connect.ts";
import { isOf, tokenIn, tokensIn } from "./foundsecret.ts";
import { appOf, rulesOf } from "./granting.ts";
import { ClusterGitHubApp, GitHubApp, Installation } from "./kinds.ts";
import { isNotAllowed, mint, notAllowed } from "./mint.ts";
import { storedPermissions } from "./permissions.ts";
import { dueSince, isRenewalDue, newChange } from "./renewal.ts";
import { keysOfRepository, repositoryKeys } from "./repositories.ts";
import { revoke } from "./revoke.ts";
import {
  type AppIdentity,
  type IssuedToken,
  requestDigest,
  type SecretObject,
  TokenSecret,
  wantedSecret,
} from "./secret.ts";
import { isRefusal, readSecret, writeSecret } from "./writesecret.ts";

const minutes = (n: number): number => n * 60_000;

/** Whatever becomes of timers, each Installation is looked at this often. */
const sweepMillis = minutes(5);
/** A refresh that failed is tried again while the token is still good. */
const againMillis = minutes(1);

const appText = (kind: string, namespace: string, name: string): string =>
  kind === "GitHubApp" ? `${namespace}/${name}` : name;

export default defineFunction({
  name: "installation",
  for: Installation,
  owns: [Secret],
  indexes: {
    app: ({ metadata, spec }) => [appText(spec.appRef.kind, metadata.namespace ?? "", spec.appRef.name)],
    namespace: ({ metadata }) => [metadata.namespace ?? ""],
    installation: ({ spec }) => [String(spec.installationID)],
    secret: ({ metadata }) => [keyText(keyOfObject(metadata))],
    repository: repositoryKeys,
  },
  watches: [
    // Also those that are not its own: when one goes that had taken its name, it can have it.
    { kind: Secret, keys: ({ metadata }, find) => find("secret", keyText(keyOfObject(metadata))) },
    { kind: GitHubApp, keys: ({ metadata }, find) => find("app", keyText(keyOfObject(metadata))) },
    { kind: ClusterGitHubApp, keys: ({ metadata }, find) => find("app", metadata.name) },
    { kind: Namespace, keys: ({ metadata }, find) => find("namespace", metadata.name) },
  ],
  webhooks: {
    installation: ({ payload }, find) => find("installation", String(payload.installation.id)),
    installation_repositories: ({ payload }, find) => find("installation", String(payload.installation.id)),
    installation_target: ({ payload }, find) => find("installation", String(payload.installation.id)),
    repository: ({ repository, payload }, find) => keysOfRepository(repository, payload, find),
  },
  sweepMillis,
  outbound: { github: true },
  async reconcile(found, ctx) {
    const change = newChange(found, ctx);
    // First of all: if this reconcile is blocked, the next one knows that another token is due.
    const installation = change === undefined ? found : await ctx.status(Installation, found, { change });
    try {
      return await keepToken(installation, ctx);
    } catch (error) {
      if (error instanceof BlockedError) await unready(installation, error, ctx);
      throw error;
    }
  },
});

async function keepToken(installation: Stored<Installation>, ctx: Context): Promise<Result> {
  const { spec, metadata } = installation;
  const app = await appOf(installation, ctx);
  const secret = await secretOf(installation, ctx);
  const rules = await rulesOf(app, installation, ctx);
  if (typeof rules === "string") {
    await withdraw(secret, app, ctx);
    throw notAllowed(app, rules);
  }
  const key = await keyOf(app, ctx);
  const client = clientOf(app, key);
  const identity: AppIdentity = {
    url: app.spec.url ?? "",
    appID: app.spec.appID,
    keyFingerprint: key.fingerprint,
    allowed: app.spec.allowed ?? null,
  };
  const token = secret && tokenIn(secret, requestDigest(identity, spec));
  const now = ctx.now();
  const good = token !== undefined && now < token.expires;
  const renews = token !== undefined && isRenewalDue(installation, token);
  if (good && !renews && now < token.refresh) return ready(installation, token, ctx);
  try {
    const issued = await mint({
      client,
      app,
      installation,
      rules,
      permissions: storedPermissions(spec),
      ctx,
    });
    await writeSecret(installation, secret, wantedSecret(spec, identity, issued), ctx).catch(
      async (error) => {
        // The API server has said no: nobody will ever have that token.
        if (isRefusal(error)) await revoke(client, [issued.token], ctx);
        throw error;
      },
    );
    ctx.event("Normal", "TokenIssued", `the Secret ${metadata.name} has a new token`);
    return await ready(installation, issued, ctx, issued.repositories ?? null);
  } catch (error) {
    // What a token is good for is known when it is made. If that is not allowed, neither is the one before.
    if (isNotAllowed(error)) await withdraw(secret, app, ctx);
    if (!(error instanceof GitHubError)) throw error;
    const blocked = blockedBy(error, "Key");
    // The installation has changed, and GitHub gives no token for what it is now.
    if (!good || (renews && error instanceof GitHubRefusedError)) throw blocked;
    // The token is good for some time yet, and that is what the Installation is for.
    ctx.log.warn({ err: error }, "token not refreshed, trying again");
    ctx.event("Warning", "TokenNotRefreshed", blocked.message);
    const refresh = (renews ? dueSince(installation) : undefined) ?? token.refresh;
    await ready(installation, { ...token, refresh }, ctx);
    return { requeueAfter: Math.min(Math.max(againMillis, blocked.retryAfterMillis), token.expires - now) };
  }
}

/** The Secret has a good token. */
async function ready(
  installation: Stored<Installation>,
  { expires, refresh }: { readonly expires: number; readonly refresh: number },
  ctx: Context,
  /** Null takes away what is noted. */
  repositories?: IssuedToken["repositories"] | null,
): Promise<Result> {
  const expiresAt = time(expires);
  const message = `the token in the Secret ${installation.metadata.name} is good until ${expiresAt}`;
  const status = {
    ready: true,
    secret: installation.metadata.name,
    message: "",
    expiresAt,
    refreshAt: time(refresh),
    ...(repositories !== undefined && { repositories }),
  };
  await ctx.status(Installation, installation, status as object, [
    { type: "Ready", status: "True", reason: "TokenIssued", message },
    { type: "TokenIssued", status: "True", reason: "TokenIssued", message },
  ]);
  return { requeueAfter: Math.max(0, refresh - ctx.now()) };
}

const time = (millis: number): string => new Date(millis).toISOString().replace(/\.\d+Z$/, "Z");

/** There is no good token, and the object says why. The platform says the same in the condition Stalled. */
async function unready(
  installation: Stored<Installation>,
  { reason, message }: BlockedError,
  ctx: Context,
): Promise<void> {
  const status = { ready: false, secret: installation.metadata.name, message };
  // A merge patch takes away what is null.
  const gone = { expiresAt: null, refreshAt: null } as object;
  await ctx.status(Installation, installation, { ...status, ...gone }, [
    { type: "Ready", status: "False", reason, message },
    { type: "TokenIssued", status: "False", reason, message },
  ]);
}

/**
 * What is not allowed any more is taken back: the Secret goes, whatever else is wrong with the App, and the token ends as far
 * as it can be known.
 */
async function withdraw(secret: Stored<SecretObject> | undefined, app: App, ctx: Context): Promise<void> {
  if (secret === undefined) return;
  await ctx.delete(TokenSecret, secret);
  ctx.event(
    "Warning",
    "TokenWithdrawn",
    `the Secret ${secret.metadata.name} was deleted: the App does not allow it any more`,
  );
  try {
    await revoke(clientOf(app, await keyOf(app, ctx)), tokensIn(secret), ctx);
  } catch (error) {
    if (!(error instanceof BlockedError)) throw error;
    ctx.log.warn({ err: error }, "tokens not revoked");
  }
}

const keyOfObject = ({ namespace = "", name }: Stored["metadata"]): ObjectKey => ({ namespace, name });

/** The Secret of the Installation's name, read live: on the bus there is no data of it. Throws when it is somebody else's. */
async function secretOf(
  installation: Stored<Installation>,
  ctx: Context,
): Promise<Stored<SecretObject> | undefined> {
  const { name } = installation.metadata;
  const secret = await readSecret(installation, ctx);
  if (secret === undefined || isOf(secret, installation)) return secret;
  throw new BlockedError(
    "NameTaken",
    `expected no Secret ${name} that is not this Installation's, found one. It is never overwritten: delete it, or create the Installation under another name.`,
    patience,
  );
}
