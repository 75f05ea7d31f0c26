/**
 * The last word to a control plane, when an object goes that was known there. Where nobody is left to be told, the object goes
 * without it: nothing may hang for ever.
 */
import type { Kind } from "../../../bus/kube/kind.ts";
import type { Condition, Stored } from "../../../bus/kube/object.ts";
import { Deployment, Service } from "../../../bus/kube/workloads.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context, PolicyRule } from "../../../bus/worker/function.ts";
import { PipecdError, since } from "../api/errors.ts";
import { isBeyondHelp } from "../controlplane/deletion.ts";
import { type Dependent, planeOf } from "../controlplane/find.ts";
import { storeKinds, storesOf } from "../controlplane/stores.ts";
import { ControlPlane } from "../kinds.ts";
import { isNamespaceGoing } from "../kubernetes/namespace.ts";
import { annotations, group } from "../names.ts";
import { patience } from "../pace.ts";
import { type DependentStatus, told } from "./dependent.ts";

const deadlineVariable = "DENREI_PIPECD_CLEANUP_SECONDS";
const defaultSeconds = 300;

/** What a function needs that says goodbye, to find out whether anybody is there to hear it. */
export const farewellPermissions: readonly PolicyRule[] = [
  { apiGroups: [Deployment.group], resources: [Deployment.plural], verbs: ["get"] },
  { apiGroups: [Service.group], resources: [Service.plural], verbs: ["get"] },
  { apiGroups: [group], resources: Object.values(storeKinds).map(({ plural }) => plural), verbs: ["get"] },
];

/**
 * How long a control plane that will hardly come back is waited for. Milliseconds. Throws a `BlockedError` when the worker was
 * told something else than a number.
 */
export function deadlineMillis(env: Readonly<Record<string, string | undefined>> = process.env): number {
  const text = env[deadlineVariable] || String(defaultSeconds);
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text) * 1000;
  throw new BlockedError(
    "CleanupSecondsInvalid",
    `expected ${deadlineVariable} to be a whole number of seconds from 1 up, found "${text}". Correct the worker's environment.`,
    patience,
  );
}

/**
 * Tells the control plane what `work` has to say. Skips it, and says so in an Event, when there is nobody to tell: the
 * namespace goes, the control plane is gone or going without waiting, or it does not answer any more and has no reason to.
 */
export async function sayGoodbye<T extends Dependent>(
  kind: Kind<T>,
  object: Stored<T>,
  ctx: Context,
  work: (plane: Stored<ControlPlane>) => Promise<void>,
): Promise<void> {
  async function skip(why: string): Promise<void> {
    // Where another replica has done all of it, the bus may not have heard that the object is gone.
    const found = await ctx.live.get(kind, object.metadata.name);
    if (found?.metadata.uid !== object.metadata.uid) return;
    ctx.event("Warning", "CleanupSkipped", `PipeCD is not told that this ${object.kind} is deleted: ${why}`);
  }
  if (object.metadata.annotations?.[annotations.skipCleanup] === "true")
    return skip(`the annotation ${annotations.skipCleanup} says so`);
  if (await isNamespaceGoing(ctx)) return skip("the namespace is being deleted");
  const plane = planeOf(object, await ctx.live.list(ControlPlane));
  if (plane === undefined) return skip("its ControlPlane is gone");
  if (await isBeyondHelp(plane, ctx)) return skip("the server of its ControlPlane is being deleted");
  try {
    await work(plane);
  } catch (error) {
    if (!(error instanceof PipecdError || error instanceof BlockedError)) throw error;
    if (isTooLate(object, ctx.now()) && (await isGivenUp(plane, ctx)))
      return skip(`the control plane does not answer as it should: ${error.message}`);
    throw withWayOut(object, error, ctx.now());
  }
}

/** Whether it has been tried for long enough since the object was deleted. */
function isTooLate({ metadata, status }: Stored<Dependent>, now: number): boolean {
  const { conditions } = (status ?? {}) as { conditions?: Condition[] };
  const failing = since(conditions, "Stalled", "True");
  if (failing === undefined) return false;
  return now - Math.max(failing, Date.parse(metadata.deletionTimestamp ?? "")) >= deadlineMillis();
}

/** Whether it is not to be expected back: it is being deleted as well, or what it keeps its data in is away. */
const isGivenUp = async (plane: Stored<ControlPlane>, ctx: Context): Promise<boolean> =>
  plane.metadata.deletionTimestamp !== undefined ||
  (await storesOf(plane, ctx)).conditions.some(({ status }) => status === "False");

function withWayOut(
  { kind, metadata, status }: Stored<Dependent>,
  error: PipecdError | BlockedError,
  now: number,
): unknown {
  const blocked = told((status ?? {}) as DependentStatus, error, now) as BlockedError;
  const way = `kubectl annotate ${kind.toLowerCase()}.pipecd.kanatakita.com ${metadata.name} -n ${metadata.namespace} ${annotations.skipCleanup}=true`;
  return new BlockedError(
    blocked.reason,
    `${blocked.message}. PipeCD is to be told that this ${kind} is deleted. To let it go without: ${way}`,
    blocked.retryAfterMillis,
    { cause: error },
  );
}
