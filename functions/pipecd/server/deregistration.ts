/**
 * Deregisters a deleted object with its control plane. If the control plane is gone or will not come back, the object is released
 * without it, so that no deletion hangs forever.
 */
import {
  BlockedError,
  type Condition,
  type Context,
  type Kind,
  type PolicyRule,
  Service,
  type Stored,
} from "denrei";
import { Deployment } from "denrei/kinds";
import { PipecdError, since } from "../api/errors.ts";
import { isServerGone } from "../controlplane/planedeletion.ts";
import { type Dependent, planeOf } from "../controlplane/planelookup.ts";
import { storeKinds, storesOf } from "../controlplane/storestates.ts";
import { retryMillis } from "../intervals.ts";
import { ControlPlane } from "../kinds.ts";
import { isNamespaceTerminating } from "../kubernetes/finalizers.ts";
import { annotations, group } from "../names.ts";
import { asBlocked, type DependentStatus } from "./dependent.ts";

const deadlineVariable = "DENREI_PIPECD_CLEANUP_SECONDS";
const defaultSeconds = 300;

/** Permissions of a function that deregisters, to find out whether the control plane can still answer. */
export const deregisterPermissions: readonly PolicyRule[] = [
  { apiGroups: [Deployment.group], resources: [Deployment.plural], verbs: ["get"] },
  { apiGroups: [Service.group], resources: [Service.plural], verbs: ["get"] },
  { apiGroups: [group], resources: Object.values(storeKinds).map(({ plural }) => plural), verbs: ["get"] },
];

/**
 * How long to retry at a control plane that will probably not come back. Milliseconds. Throws a `BlockedError` if the environment
 * variable is not a number.
 */
export function deadlineMillis(env: Readonly<Record<string, string | undefined>> = process.env): number {
  const text = env[deadlineVariable] || String(defaultSeconds);
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text) * 1000;
  throw new BlockedError(
    "CleanupSecondsInvalid",
    `expected ${deadlineVariable} to be a whole number of seconds from 1 up, found "${text}". Correct the worker's environment.`,
    retryMillis,
  );
}

/**
 * Runs `deregisterAt`, which deregisters the object. Skips it with an Event in these cases:
 * - the annotation asks for it
 * - the namespace is being deleted
 * - the control plane is gone, or its server is being deleted
 * - the control plane has not answered by the deadline, and will probably not come back
 */
export async function deregister<T extends Dependent>(
  kind: Kind<T>,
  object: Stored<T>,
  ctx: Context,
  deregisterAt: (plane: Stored<ControlPlane>) => Promise<void>,
): Promise<void> {
  async function skip(why: string): Promise<void> {
    // Another replica may have finished the deletion before the bus received the event.
    const found = await ctx.live.get(kind, object.metadata.name);
    if (found?.metadata.uid !== object.metadata.uid) return;
    ctx.event("Warning", "CleanupSkipped", `this ${object.kind} was not removed from PipeCD: ${why}`);
  }
  if (object.metadata.annotations?.[annotations.skipCleanup] === "true")
    return skip(`the annotation ${annotations.skipCleanup} is set`);
  if (await isNamespaceTerminating(ctx)) return skip("the namespace is being deleted");
  const plane = planeOf(object, await ctx.live.list(ControlPlane));
  if (plane === undefined) return skip("its ControlPlane no longer exists");
  if (await isServerGone(plane, ctx)) return skip("the server of its ControlPlane is being deleted");
  try {
    await deregisterAt(plane);
  } catch (error) {
    if (!(error instanceof PipecdError || error instanceof BlockedError)) throw error;
    if (isPastDeadline(object, ctx.now()) && (await isUnrecoverable(plane, ctx)))
      return skip(`the control plane did not recover before the deadline: ${error.message}`);
    throw withSkipHint(object, error, ctx.now());
  }
}

/** Whether attempts have failed for longer than the deadline since the object was deleted. */
function isPastDeadline({ metadata, status }: Stored<Dependent>, now: number): boolean {
  const { conditions } = (status ?? {}) as { conditions?: Condition[] };
  const failing = since(conditions, "Stalled", "True");
  if (failing === undefined) return false;
  return now - Math.max(failing, Date.parse(metadata.deletionTimestamp ?? "")) >= deadlineMillis();
}

/** Whether the control plane will probably not come back: it is being deleted too, or one of its stores is unavailable. */
const isUnrecoverable = async (plane: Stored<ControlPlane>, ctx: Context): Promise<boolean> =>
  plane.metadata.deletionTimestamp !== undefined ||
  (await storesOf(plane, ctx)).conditions.some(({ status }) => status === "False");

function withSkipHint(
  { kind, metadata, status }: Stored<Dependent>,
  error: PipecdError | BlockedError,
  now: number,
): unknown {
  const blocked = asBlocked((status ?? {}) as DependentStatus, error, now) as BlockedError;
  const command = `kubectl annotate ${kind.toLowerCase()}.pipecd.kanatakita.com ${metadata.name} -n ${metadata.namespace} ${annotations.skipCleanup}=true`;
  return new BlockedError(
    blocked.reason,
    `${blocked.message}. Deleting this ${kind} waits until it is removed from PipeCD. To skip that: ${command}`,
    blocked.retryAfterMillis,
    { cause: error },
  );
}
