/**
 * Creates API keys for the projects of a control plane and stores them in a Secret. PipeCD returns a key only once, so a lost key
 * is replaced and disabled.
 */
import { type ConditionUpdate, type Context, Secret, type SecretObject, type Stored } from "denrei";
import { blockedBy, PipecdError, since } from "../api/errors.ts";
import type { APIKeys } from "../api/services.ts";
import { isReady } from "../controlplane/planelookup.ts";
import { apiKeysSecret, keyOfProject } from "../keynames.ts";
import type { ControlPlane } from "../kinds.ts";
import { bytesIn, contentDigest, findSecret } from "../kubernetes/secrets.ts";
import { annotations } from "../names.ts";
import { isSyncDue, syncedStatus, untilSync } from "./dependent.ts";
import { openServer } from "./openserver.ts";

/** Name of the keys in PipeCD. */
const keyName = "denrei";
const conditionType = "APIKeysReady";

/** The result of {@link bootstrapKeys}. */
export interface Bootstrapped {
  readonly status: Partial<NonNullable<ControlPlane["status"]>>;
  readonly conditions: readonly ConditionUpdate[];
  /** Time until the next check. Milliseconds. */
  readonly requeueMillis: number | undefined;
}

const noKeys: Bootstrapped = { status: {}, conditions: [], requeueMillis: undefined };

/**
 * Disables the keys of projects that the configuration no longer has. It runs before the server gets that configuration, because
 * PipeCD then refuses all calls for these projects. Returns the entries of the Secret whose keys may still be enabled.
 */
export async function disableFormerKeys(
  plane: Stored<ControlPlane>,
  ctx: Context,
): Promise<readonly string[]> {
  if (!plane.spec.bootstrapAPIKeys) return [];
  const secret = await findSecret(apiKeysSecret(plane), ctx);
  const desired = new Set((plane.spec.config.projects ?? []).map(({ id }) => keyOfProject(id)));
  const former = Object.keys(secret?.data ?? {}).filter((entry) => !desired.has(entry));
  if (secret === undefined || !isReady(plane)) return former;
  const left: string[] = [];
  for (const entry of former)
    try {
      await disableFormerKey(plane, entry, secret, ctx);
    } catch (error) {
      if (!(error instanceof PipecdError)) throw error;
      left.push(entry);
    }
  return left;
}

/** If the entry is a digest instead of the project id, PipeCD does not know the project and refuses the calls. */
async function disableFormerKey(
  plane: Stored<ControlPlane>,
  projectID: string,
  secret: Stored<SecretObject>,
  ctx: Context,
): Promise<void> {
  const apiKeys = await keysOf(plane, projectID, ctx);
  for (const { id, name, disabled } of await apiKeys.list())
    if (name === keyName && !disabled) await disable(id, projectID, apiKeys, ctx);
  await ctx.patch(Secret, secret, { data: { [projectID]: null } });
}

/** Ensures one enabled key per project, once the server is ready. Errors of PipeCD are reported in the condition APIKeysReady. */
export async function bootstrapKeys(
  plane: Stored<ControlPlane>,
  former: readonly string[],
  ctx: Context,
): Promise<Bootstrapped> {
  if (!plane.spec.bootstrapAPIKeys) return noKeys;
  const { status = {} } = plane;
  const now = ctx.now();
  const secret = await findSecret(apiKeysSecret(plane), ctx);
  const projects = (plane.spec.config.projects ?? []).map(({ id }) => id);
  const isComplete = projects.every((project) => storedKey(secret, project) !== undefined);
  const message = `each project has an API key${leftOver(former)}`;
  if (isComplete && !hasOlderKeys(secret) && !isSyncDue(status, plane, now))
    return { ...withCondition("True", "Bootstrapped", message), requeueMillis: untilSync(status, now) };
  try {
    for (const project of projects) await ensureProjectKey(plane, project, ctx);
    await recordRevoked(plane, ctx);
  } catch (error) {
    if (!(error instanceof PipecdError)) throw error;
    const failingSince = since(status.conditions, conditionType, "False");
    const { reason, message, retryAfterMillis } = blockedBy(error, failingSince, now);
    return { ...withCondition("False", reason, message), requeueMillis: retryAfterMillis };
  }
  const synced = syncedStatus(plane, now);
  return {
    ...withCondition("True", "Bootstrapped", message),
    status: synced,
    requeueMillis: untilSync(synced, now),
  };
}

const leftOver = (former: readonly string[]): string =>
  former.length === 0
    ? ""
    : `. PipeCD may still accept the keys of former projects: ${former.join(", ")}. To disable them, add these projects again, and remove them while the ControlPlane is ready.`;

const withCondition = (
  status: "True" | "False",
  reason: string,
  message: string,
): Pick<Bootstrapped, "status" | "conditions"> => ({
  status: {},
  conditions: [{ type: conditionType, status, reason, message }],
});

/** Whether older keys of a project may still be enabled. */
const hasOlderKeys = (secret: Stored<SecretObject> | undefined): boolean =>
  secret?.metadata.annotations?.[annotations.olderKeys] !== undefined;

/** Digests of the keys as PipeCD returned them; undefined in a Secret without the annotation. */
const digestsIn = (secret: Stored<SecretObject> | undefined): readonly string[] | undefined =>
  secret?.metadata.annotations?.[annotations.apiKeyDigests]?.split(" ");

/** The key in an entry of the Secret; undefined if it is missing or edited. PipeCD lists only ids, so a digest detects edits. */
function keyIn(secret: Stored<SecretObject> | undefined, entry: string): string | undefined {
  const key = secret === undefined ? "" : bytesIn(secret, entry).toString();
  if (key === "" || digestsIn(secret)?.includes(contentDigest(key)) === false) return undefined;
  return key;
}

const storedKey = (secret: Stored<SecretObject> | undefined, projectID: string): string | undefined =>
  keyIn(secret, keyOfProject(projectID));

/** A key begins with its id. */
const idOf = (key: string): string | undefined => key.split(".")[0];

/**
 * Creates a key unless PipeCD lists the one in the Secret. Older keys are disabled last, because clients cannot use a Secret with
 * a disabled key.
 */
async function ensureProjectKey(plane: Stored<ControlPlane>, projectID: string, ctx: Context): Promise<void> {
  const apiKeys = await keysOf(plane, projectID, ctx);
  const enabled = (await apiKeys.list()).filter(({ name, disabled }) => name === keyName && !disabled);
  const secret = await findSecret(apiKeysSecret(plane), ctx);
  const kept = idOf(storedKey(secret, projectID) ?? "");
  const isGood = enabled.some(({ id }) => id === kept);
  const current = isGood ? kept : await makeKey(plane, projectID, secret, apiKeys, ctx);
  for (const { id } of enabled.filter((one) => one.id !== current))
    await disable(id, projectID, apiKeys, ctx);
}

async function keysOf(plane: Stored<ControlPlane>, projectID: string, ctx: Context): Promise<APIKeys> {
  const caller = { projectID, insecure: plane.spec.tls === undefined, withoutApiKey: true } as const;
  const { apiKeys } = await openServer(plane, caller, ctx);
  if (apiKeys === undefined) throw new TypeError("expected a server with API keys");
  return apiKeys;
}

async function disable(id: string, projectID: string, apiKeys: APIKeys, ctx: Context): Promise<void> {
  ctx.assertOwned();
  await apiKeys.disable(id);
  ctx.event("Normal", "KeysRevoked", `PipeCD has disabled the API key ${id} of the project ${projectID}`);
}

async function makeKey(
  plane: Stored<ControlPlane>,
  projectID: string,
  secret: Stored<SecretObject> | undefined,
  apiKeys: APIKeys,
  ctx: Context,
): Promise<string | undefined> {
  ctx.assertOwned();
  const made = await apiKeys.generate(keyName);
  const entry = keyOfProject(projectID);
  const data = { [entry]: Buffer.from(made).toString("base64") };
  const others = Object.keys(secret?.data ?? {})
    .filter((other) => other !== entry)
    .flatMap((other) => keyIn(secret, other) ?? []);
  const metadata = {
    name: apiKeysSecret(plane),
    annotations: {
      [annotations.apiKeyDigests]: [...others, made].map((key) => contentDigest(key)).join(" "),
      // While this annotation is set, each reconcile asks PipeCD for older keys.
      [annotations.olderKeys]: "revoke",
    },
  };
  if (secret) await ctx.patch(Secret, secret, { metadata, data });
  else await ctx.create(Secret, { metadata, type: "Opaque", data });
  ctx.event(
    "Normal",
    "APIKeyCreated",
    `stored an API key of the project ${projectID} in the Secret ${metadata.name}`,
  );
  return idOf(made);
}

/** Records that all older keys are disabled. */
async function recordRevoked(plane: Stored<ControlPlane>, ctx: Context): Promise<void> {
  const secret = await findSecret(apiKeysSecret(plane), ctx);
  if (hasOlderKeys(secret) && secret)
    await ctx.patch(Secret, secret, { metadata: { annotations: { [annotations.olderKeys]: null } } });
}
