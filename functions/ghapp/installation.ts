/**
 * Installation: keeps a token of a GitHub App in a Secret, and refreshes it in time.
 *
 * The Secret records the inputs of its token, its content, and when to refresh it. While these are current, a reconcile neither calls
 * GitHub nor writes. After a webhook about a change of the installation or of a repository, the rights of the token are unknown. The
 * webhook is recorded, and a new token is minted at once. The queue ensures that only one replica mints a token.
 */
import {
  BlockedError,
  type Context,
  defineFunction,
  type Find,
  github,
  keyText,
  Namespace,
  type ObjectKey,
  type Result,
  Secret,
  type Stored,
  timeText,
} from "denrei";
import { blockedBy, GitHubError, GitHubRefusedError, retryMillis } from "denrei/github";
import { minutes } from "denrei/values";
import { type App, clientOf, keyOf } from "./connect.ts";
import { isOf, tokenIn, tokensIn } from "./existingsecret.ts";
import { appOf, rulesOf } from "./granting.ts";
import { ClusterGitHubApp, GitHubApp, Installation } from "./kinds.ts";
import { isNotAllowed, mint, notAllowed } from "./mint.ts";
import { storedPermissions } from "./permissions.ts";
import { dueSince, isRenewalDue, newChange } from "./renewal.ts";
import { keysOfRepository, repositoryKeys } from "./repositories.ts";
import { revoke } from "./revoke.ts";
import {
  type AppIdentity,
  desiredSecret,
  type IssuedToken,
  requestDigest,
  type SecretObject,
  TokenSecret,
} from "./secret.ts";
import { isRefusal, readSecret, writeSecret } from "./writesecret.ts";

/** Interval at which all Installations are checked, in case a timer was lost. */
const sweepMillis = minutes(5);
/** Retry interval of a failed refresh while the token is still valid. */
const refreshRetryMillis = minutes(1);

const keysOfInstallation = (
  { data }: { readonly data: { readonly installation: { readonly id: number } } },
  find: Find,
) => find("installation", String(data.installation.id));

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
    // Also watch Secrets of other owners: after one with the same name is deleted, the Installation can create its own.
    { kind: Secret, keys: ({ metadata }, find) => find("secret", keyText(keyOfObject(metadata))) },
    { kind: GitHubApp, keys: ({ metadata }, find) => find("app", keyText(keyOfObject(metadata))) },
    { kind: ClusterGitHubApp, keys: ({ metadata }, find) => find("app", metadata.name) },
    { kind: Namespace, keys: ({ metadata }, find) => find("namespace", metadata.name) },
  ],
  webhooks: [
    github.on("installation", { keys: keysOfInstallation }),
    github.on("installation_repositories", { keys: keysOfInstallation }),
    github.on("installation_target", { keys: keysOfInstallation }),
    github.on("repository", {
      keys: ({ repository, data }, find) => keysOfRepository(repository, data, find),
    }),
  ],
  sweepMillis,
  outbound: { github: true },
  async reconcile(found, ctx) {
    const change = newChange(found, ctx);
    // Record the change first: if this reconcile is blocked, the next one must know that a new token is due.
    const installation = change === undefined ? found : await ctx.status(Installation, found, { change });
    try {
      return await ensureToken(installation, ctx);
    } catch (error) {
      if (error instanceof BlockedError) await reportNotReady(installation, error, ctx);
      throw error;
    }
  },
});

async function ensureToken(installation: Stored<Installation>, ctx: Context): Promise<Result> {
  const { spec, metadata } = installation;
  const app = await appOf(installation, ctx);
  const secret = await secretOf(installation, ctx);
  const rules = await rulesOf(app, installation, ctx);
  if (typeof rules === "string") {
    await deleteSecret(secret, app, ctx);
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
  const isValid = token !== undefined && now < token.expires;
  const isRenewal = token !== undefined && isRenewalDue(installation, token);
  if (isValid && !isRenewal && now < token.refresh) return reportReady(installation, token, ctx);
  try {
    const issued = await mint({
      client,
      app,
      installation,
      rules,
      permissions: storedPermissions(spec),
      ctx,
    });
    await writeSecret(installation, secret, desiredSecret(spec, identity, issued), ctx).catch(
      async (error) => {
        // The API server refused the write, so the token is stored nowhere.
        if (isRefusal(error)) await revoke(client, [issued.token], ctx);
        throw error;
      },
    );
    ctx.event("Normal", "TokenIssued", `wrote a new token to the Secret ${metadata.name}`);
    return await reportReady(installation, issued, ctx, issued.repositories ?? null);
  } catch (error) {
    // The access of a token is known only after minting. If it is not allowed, the stored token is not allowed either.
    if (isNotAllowed(error)) await deleteSecret(secret, app, ctx);
    if (!(error instanceof GitHubError)) throw error;
    const blocked = blockedBy(error, "Key");
    // The installation has changed, and GitHub refuses a token for its new state.
    if (!isValid || (isRenewal && error instanceof GitHubRefusedError)) throw blocked;
    // The stored token is still valid, so the Installation stays ready.
    ctx.log.warn({ err: error }, "failed to refresh the token, retrying");
    ctx.event("Warning", "TokenNotRefreshed", blocked.message);
    const refresh = (isRenewal ? dueSince(installation) : undefined) ?? token.refresh;
    await reportReady(installation, { ...token, refresh }, ctx);
    return {
      requeueAfter: Math.min(Math.max(refreshRetryMillis, blocked.retryAfterMillis), token.expires - now),
    };
  }
}

/** Reports that the Secret has a valid token. */
async function reportReady(
  installation: Stored<Installation>,
  { expires, refresh }: { readonly expires: number; readonly refresh: number },
  ctx: Context,
  /** Null removes the recorded repositories. */
  repositories?: IssuedToken["repositories"] | null,
): Promise<Result> {
  const expiresAt = timeText(expires);
  const message = `the token in the Secret ${installation.metadata.name} is valid until ${expiresAt}`;
  const status = {
    ready: true,
    secret: installation.metadata.name,
    message: "",
    expiresAt,
    refreshAt: timeText(refresh),
    ...(repositories !== undefined && { repositories }),
  };
  await ctx.status(Installation, installation, status, [
    { type: "Ready", status: "True", reason: "TokenIssued", message },
    { type: "TokenIssued", status: "True", reason: "TokenIssued", message },
  ]);
  return { requeueAfter: Math.max(0, refresh - ctx.now()) };
}

/** Reports why there is no valid token. The platform repeats the message in the condition Stalled. */
async function reportNotReady(
  installation: Stored<Installation>,
  { reason, message }: BlockedError,
  ctx: Context,
): Promise<void> {
  const status = { ready: false, secret: installation.metadata.name, message };
  await ctx.status(Installation, installation, { ...status, expiresAt: null, refreshAt: null }, [
    { type: "Ready", status: "False", reason, message },
    { type: "TokenIssued", status: "False", reason, message },
  ]);
}

/** Deletes the Secret of an Installation that is no longer allowed, even if the App has other problems, and revokes the tokens in it. */
async function deleteSecret(secret: Stored<SecretObject> | undefined, app: App, ctx: Context): Promise<void> {
  if (secret === undefined) return;
  await ctx.delete(TokenSecret, secret);
  ctx.event(
    "Warning",
    "TokenRevoked",
    `deleted the Secret ${secret.metadata.name}, because the App no longer allows it`,
  );
  try {
    await revoke(clientOf(app, await keyOf(app, ctx)), tokensIn(secret), ctx);
  } catch (error) {
    if (!(error instanceof BlockedError)) throw error;
    ctx.log.warn({ err: error }, "failed to revoke tokens");
  }
}

const keyOfObject = ({ namespace = "", name }: Stored["metadata"]): ObjectKey => ({ namespace, name });

/** Reads the Secret with the Installation's name from the API server, because the bus has no data of Secrets. Throws when it has another owner. */
async function secretOf(
  installation: Stored<Installation>,
  ctx: Context,
): Promise<Stored<SecretObject> | undefined> {
  const { name } = installation.metadata;
  const secret = await readSecret(installation, ctx);
  if (secret === undefined || isOf(secret, installation)) return secret;
  throw new BlockedError(
    "NameTaken",
    `the Secret ${name} does not belong to this Installation, and is never overwritten. Delete it, or create the Installation under another name.`,
    retryMillis,
  );
}
