/** Conditions that the platform sets on an object, in addition to those of its function (kstatus). */
import { type ConditionUpdate, withConditions, withoutConditions } from "../kube/conditions.ts";
import type { Condition, Stored } from "../kube/object.ts";
import type { Context, ReconcileFunction } from "./function.ts";

/** True while the platform cannot make progress on an object. */
export const stalled = "Stalled";

/** The function's own condition. While the object is stalled, the platform replaces True. */
export const ready = "Ready";

/** True while an object exceeds the maximum message size of the bus. */
export const oversized = "Oversized";

const oversizedReason = "ExceedsMaxPayload";
const oversizedMessage =
  "The object is too large for a message on the bus, so every read goes to the API server. " +
  "This is slower, but complete. Make the object smaller, or raise max_payload of the NATS servers.";

/** For a function that has not reported `Ready` in the reconcile that succeeded. */
const readyAgain: ConditionUpdate = {
  type: ready,
  status: "True",
  reason: "Reconciled",
  message: "The last reconcile has succeeded.",
};

const tooLarge: ConditionUpdate = {
  type: oversized,
  status: "True",
  reason: oversizedReason,
  message: oversizedMessage,
};

/** How much of the object is on the bus. `unknown` if the bus was not read. */
export type OnBus = "whole" | "partial" | "unknown";

/** The conditions in the object's status. */
export const conditionsOf = ({ status }: Stored): readonly Condition[] =>
  (status as { conditions?: readonly Condition[] } | undefined)?.conditions ?? [];

/** Whether the kind has conditions and this function maintains them. */
export const keepsConditions = (fn: ReconcileFunction): boolean =>
  !fn.secondary && "conditions" in (fn.for.definition?.status?.shape ?? {});

const conditionOf = (conditions: readonly Condition[], wanted: string): Condition | undefined =>
  conditions.find(({ type }) => type === wanted);

const statusOf = (conditions: readonly Condition[], wanted: string) =>
  conditionOf(conditions, wanted)?.status;

/** Whether the platform has written `Ready`: it then has the reason and the message of `Stalled`. */
export function isReadyOfPlatform(conditions: readonly Condition[]): boolean {
  const [own, cause] = [conditionOf(conditions, ready), conditionOf(conditions, stalled)];
  return (
    own !== undefined &&
    own.status !== "True" &&
    own.reason === cause?.reason &&
    own.message === cause?.message
  );
}

/**
 * What a reconcile reports as `Ready`. A stalled object keeps its `Ready` until the reconcile has succeeded, so that it is never
 * True beside `Stalled`, and does not change back and forth when every attempt fails after it was reported.
 */
export class ReportedReady {
  /** The report that waits for the success of the reconcile. */
  held: ConditionUpdate | undefined;
  /** Whether the reconcile has reported it at all. */
  isReported = false;

  /** The updates to write now: all but a `Ready` of True for a stalled object. */
  now(before: readonly Condition[] | undefined, updates: readonly ConditionUpdate[]): ConditionUpdate[] {
    const report = updates.findLast(({ type }) => type === ready);
    if (report === undefined) return [...updates];
    this.isReported = true;
    const isStalled = statusOf(before ?? [], stalled) === "True";
    this.held = isStalled && report.status === "True" ? report : undefined;
    return updates.filter(({ type }) => this.held === undefined || type !== ready);
  }
}

/**
 * After a successful reconcile: removes `Stalled`, writes the reported `Ready` with it, and sets or removes `Oversized`. A `Ready` of
 * the platform that the function has not replaced becomes True if it was True before, and is removed otherwise. Returns whether the
 * object was stalled.
 */
export async function settleConditions(
  fn: ReconcileFunction,
  object: Stored,
  ctx: Pick<Context, "status" | "event" | "now">,
  onBus: OnBus,
  reported: ReportedReady,
): Promise<boolean> {
  if (onBus === "partial") ctx.event("Warning", oversizedReason, oversizedMessage);
  if (!keepsConditions(fn)) return false;
  const before = conditionsOf(object);
  const has = (type: string) => conditionOf(before, type) !== undefined;
  const wasStalled = has(stalled);
  const isMissing = onBus === "partial" && !has(oversized);
  const isObsolete = onBus === "whole" && has(oversized);
  if (!wasStalled && !isMissing && !isObsolete) return false;
  const left = isReadyOfPlatform(before) && !reported.isReported ? statusOf(before, ready) : undefined;
  const removed = [stalled, ...(isObsolete ? [oversized] : []), ...(left === "False" ? [ready] : [])];
  const updates = [
    ...(reported.held ? [reported.held] : []),
    // It was True before.
    ...(left === "Unknown" ? [readyAgain] : []),
    ...(isMissing ? [tooLarge] : []),
  ];
  const { generation } = object.metadata;
  const at = { generation, now: new Date(ctx.now()) };
  const conditions = withConditions(withoutConditions(before, ...removed), updates, at);
  await ctx.status(fn.for, object, { conditions } as never);
  return wasStalled;
}
