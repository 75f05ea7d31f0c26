/** Conditions that the platform sets on an object, in addition to those of its function (kstatus). */
import { withConditions, withoutConditions } from "../kube/conditions.ts";
import type { Condition, Stored } from "../kube/object.ts";
import type { Context, ReconcileFunction } from "./function.ts";

/** True while the platform cannot make progress on an object. */
export const stalled = "Stalled";

/** True while an object exceeds the maximum message size of the bus. */
export const oversized = "Oversized";

const oversizedReason = "ExceedsMaxPayload";
const oversizedMessage =
  "The object is too large for a message on the bus, so every read goes to the API server. " +
  "This is slower, but complete. Make the object smaller, or raise max_payload of the NATS servers.";

/** How much of the object is on the bus. `unknown` if the bus was not read. */
export type OnBus = "whole" | "partial" | "unknown";

/** The conditions in the object's status. */
export const conditionsOf = ({ status }: Stored): readonly Condition[] =>
  (status as { conditions?: readonly Condition[] } | undefined)?.conditions ?? [];

/** Whether the kind has conditions and this function maintains them. */
export const keepsConditions = (fn: ReconcileFunction): boolean =>
  !fn.secondary && "conditions" in (fn.for.definition?.status?.shape ?? {});

/** After a successful reconcile: removes `Stalled`, and sets or removes `Oversized`. Returns whether the object was stalled. */
export async function settleConditions(
  fn: ReconcileFunction,
  object: Stored,
  ctx: Pick<Context, "status" | "event" | "now">,
  onBus: OnBus,
): Promise<boolean> {
  if (onBus === "partial") ctx.event("Warning", oversizedReason, oversizedMessage);
  if (!keepsConditions(fn)) return false;
  const before = conditionsOf(object);
  const has = (type: string) => before.some((condition) => condition.type === type);
  const wasStalled = has(stalled);
  const isMissing = onBus === "partial" && !has(oversized);
  const isObsolete = onBus === "whole" && has(oversized);
  if (!wasStalled && !isMissing && !isObsolete) return false;
  const kept = withoutConditions(before, stalled, ...(isObsolete ? [oversized] : []));
  const added = {
    type: oversized,
    status: "True",
    reason: oversizedReason,
    message: oversizedMessage,
  } as const;
  const { generation } = object.metadata;
  const conditions = isMissing
    ? withConditions(kept, [added], { generation, now: new Date(ctx.now()) })
    : kept;
  await ctx.status(fn.for, object, { conditions } as never);
  return wasStalled;
}
