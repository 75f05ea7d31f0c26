/**
 * API keys that are made for the projects of a control plane, and kept in a Secret. PipeCD tells a key once, so one that is
 * lost, whoever died before it was written down, is disabled, and another one is made.
 */
import type { ConditionUpdate } from "../../../bus/kube/conditions.ts";
import { Secret, type SecretObject } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { blockedBy, PipecdError, since } from "../api/errors.ts";
import { apiKeysSecret, keyOfProject } from "../keynames.ts";
import type { ControlPlane } from "../kinds.ts";
import { bytesIn, findSecret } from "../kubernetes/secrets.ts";
import { isSyncDue, syncedNow, untilSync } from "../server/dependent.ts";
import { openServer } from "../server/open.ts";

/** What the keys are called at PipeCD. */
const keyName = "denrei";
const conditionType = "APIKeysReady";

/** What has come of it. */
export interface Bootstrapped {
  readonly status: Partial<NonNullable<ControlPlane["status"]>>;
  readonly conditions: readonly ConditionUpdate[];
  /** When to look again. Milliseconds. */
  readonly againMillis: number | undefined;
}

const nothing: Bootstrapped = { status: {}, conditions: [], againMillis: undefined };

/** Sees to the keys of all projects, once the server may be asked. What PipeCD refuses is told in a condition of its own. */
export async function bootstrapKeys(plane: Stored<ControlPlane>, ctx: Context): Promise<Bootstrapped> {
  if (!plane.spec.bootstrapAPIKeys) return nothing;
  const { status = {} } = plane;
  const now = ctx.now();
  const secret = await findSecret(apiKeysSecret(plane), ctx);
  const projects = (plane.spec.config.projects ?? []).map(({ id }) => id);
  const isComplete = projects.every((project) => hasKey(secret, project));
  if (isComplete && !isSyncDue(status, plane, now))
    return { ...said("True", "Bootstrapped", "each project has one"), againMillis: untilSync(status, now) };
  try {
    for (const project of projects) await keepKey(plane, project, ctx);
  } catch (error) {
    if (!(error instanceof PipecdError)) throw error;
    const trouble = since(status.conditions, conditionType, "False");
    const { reason, message, retryAfterMillis } = blockedBy(error, trouble, now);
    return { ...said("False", reason, message), againMillis: retryAfterMillis };
  }
  const synced = syncedNow(plane, now);
  return {
    ...said("True", "Bootstrapped", "each project has one"),
    status: synced,
    againMillis: untilSync(synced, now),
  };
}

const said = (
  status: "True" | "False",
  reason: string,
  message: string,
): Pick<Bootstrapped, "status" | "conditions"> => ({
  status: {},
  conditions: [{ type: conditionType, status, reason, message }],
});

const hasKey = (secret: SecretObject | undefined, projectID: string): boolean =>
  secret !== undefined && bytesIn(secret, keyOfProject(projectID)).length > 0;

/** Has one made where there is none that is known and good. */
async function keepKey(plane: Stored<ControlPlane>, projectID: string, ctx: Context): Promise<void> {
  const { apiKeys } = await openServer(
    plane,
    { projectID, insecure: plane.spec.tls === undefined, withoutApiKey: true },
    ctx,
  );
  if (apiKeys === undefined) throw new TypeError("expected a server with API keys");
  const enabled = (await apiKeys.list()).filter(({ name, disabled }) => name === keyName && !disabled);
  const secret = await findSecret(apiKeysSecret(plane), ctx);
  if (hasKey(secret, projectID) && enabled.length === 1) return;
  for (const { id } of enabled) {
    ctx.assertOwned();
    await apiKeys.disable(id);
  }
  ctx.assertOwned();
  const made = await apiKeys.generate(keyName);
  const data = { [keyOfProject(projectID)]: Buffer.from(made).toString("base64") };
  const metadata = { name: apiKeysSecret(plane) };
  if (secret) await ctx.patch(Secret, secret, { data });
  else await ctx.create(Secret, { metadata, type: "Opaque", spec: undefined, data });
  ctx.event(
    "Normal",
    "APIKeyMade",
    `an API key of the project ${projectID} is in the Secret ${metadata.name}`,
  );
}
