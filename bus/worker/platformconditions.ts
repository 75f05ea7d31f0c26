/** Conditions that the platform keeps on an object beside those of its function (kstatus). */
import { withConditions, withoutConditions } from "../kube/conditions.ts";
import type { Condition, Stored } from "../kube/object.ts";
import type { Context, ReconcileFunction } from "./function.ts";

/** True while the platform cannot bring an object forward. */
export const stalled = "Stalled";

/** True while an object is too large for a message on the bus. */
export const oversized = "Oversized";

const oversizedReason = "ExceedsMaxPayload";
const oversizedMessage =
  "The object does not fit into a message on the bus, so it is read from the API server each time it is needed. " +
  "That is slower, and nothing is left out. Make it smaller, or raise max_payload of the NATS servers.";

/** How much of the object the bus has. `unknown` where the bus was not asked. */
export type OnBus = "whole" | "partial" | "unknown";

/** The object's conditions, as the API server has them. */
export const conditionsOf = ({ status }: Stored): readonly Condition[] =>
  (status as { conditions?: readonly Condition[] } | undefined)?.conditions ?? [];

/** Whether the kind has conditions, and this function keeps them. */
export const keepsConditions = (fn: ReconcileFunction): boolean =>
  !fn.secondary && "conditions" in (fn.for.definition?.status?.shape ?? {});

/** After a successful reconcile: `Stalled` goes, and `Oversized` comes or goes. Writes only what changes. Returns whether it was stalled. */
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
