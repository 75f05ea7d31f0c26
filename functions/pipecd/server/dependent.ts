/**
 * What Environment, Piped and Application have in common: each belongs to a control plane, waits for it, and is made known
 * there; and when it goes, the control plane is told, unless nobody is there any more to be told.
 */
import type { ConditionUpdate } from "../../../bus/kube/conditions.ts";
import type { Kind } from "../../../bus/kube/kind.ts";
import type { Condition, Stored } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { blockedBy, PipecdError, since } from "../api/errors.ts";
import { type Dependent, isReady, planeOf } from "../controlplane/find.ts";
import { ControlPlane } from "../kinds.ts";
import { driftMillis } from "../pace.ts";

/** Status fields that all of them have. */
export interface DependentStatus {
  readonly conditions?: readonly Condition[] | undefined;
  readonly lastSyncTime?: string | undefined;
  readonly syncedWith?: string | undefined;
}

/** Somebody else has to come first, and its change wakes us. */
export class WaitingError extends Error {
  override readonly name = "WaitingError";
  readonly reason: string;
  /** When to look again, where nobody may tell. Milliseconds. */
  readonly againMillis: number | undefined;
  /** What the object says beside that it is not ready. */
  readonly conditions: readonly ConditionUpdate[];
  constructor(
    reason: string,
    message: string,
    againMillis?: number,
    conditions: readonly ConditionUpdate[] = [],
  ) {
    super(message);
    this.reason = reason;
    this.againMillis = againMillis;
    this.conditions = conditions;
  }
}

/** The control plane of an object. Throws a {@link WaitingError} when there is none. */
export async function planeFor(object: Dependent, ctx: Context): Promise<Stored<ControlPlane>> {
  const plane = planeOf(object, await ctx.read.list(ControlPlane));
  if (plane !== undefined) return plane;
  const { controlPlaneRef } = object.spec;
  throw new WaitingError(
    "ControlPlaneNotFound",
    controlPlaneRef
      ? `expected the ControlPlane ${controlPlaneRef.objectName} in ${ctx.key.namespace}, found none`
      : `expected a ControlPlane in ${ctx.key.namespace}, found none`,
  );
}

/** Throws a {@link WaitingError} when the control plane may not be asked. */
export function assertReady(plane: Stored<ControlPlane>): void {
  if (isReady(plane)) return;
  const { metadata, status } = plane;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const why = metadata.deletionTimestamp ? "it is being deleted" : (ready?.message ?? "it is new");
  throw new WaitingError("ControlPlaneNotReady", `the ControlPlane ${metadata.name} is not ready: ${why}`);
}

/**
 * Whether what PipeCD has is to be looked at: it may be asked, and some time has passed, or it was away meanwhile and may have
 * forgotten.
 */
export const isSyncDue = (
  { lastSyncTime, syncedWith }: DependentStatus,
  plane: Stored<ControlPlane>,
  now: number,
  againMillis = driftMillis,
): boolean =>
  isReady(plane) &&
  (lastSyncTime === undefined ||
    syncedWith !== lifeOf(plane) ||
    now - Date.parse(lastSyncTime) >= againMillis);

/** A control plane from when it became ready to when it is not any more. */
const lifeOf = ({ metadata, status }: Stored<ControlPlane>): string => {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return `${metadata.uid} ${ready?.lastTransitionTime}`;
};

/** Status fields that say that the control plane has just been asked. */
export const syncedNow = (plane: Stored<ControlPlane>, now: number) => ({
  lastSyncTime: new Date(now).toISOString().replace(/\.\d+Z$/, "Z"),
  syncedWith: lifeOf(plane),
});

/** How long until it is to be asked again. Milliseconds. */
export const untilSync = (
  { lastSyncTime }: DependentStatus,
  now: number,
  againMillis = driftMillis,
): number => Math.max(1_000, Date.parse(lastSyncTime ?? "") + againMillis - now || 0);

export const ready = (status: "True" | "False", reason: string, message: string): ConditionUpdate => ({
  type: "Ready",
  status,
  reason,
  message,
});

/** How an error of PipeCD's is told: as one that is tried again, ever more seldom. Others are passed on. */
export function told({ conditions }: DependentStatus, error: unknown, now: number): unknown {
  if (!(error instanceof PipecdError)) return error;
  return blockedBy(error, since(conditions, "Stalled", "True"), now);
}

/** Runs a reconcile that may have to wait: the object says for what. `claims` are further conditions after a failure. */
export async function orWait<T extends Dependent>(
  kind: Kind<T>,
  object: Stored<T>,
  ctx: Context,
  work: () => Promise<{ readonly requeueAfter?: number } | undefined>,
  claims: (latest: Stored<T>) => readonly ConditionUpdate[] = () => [],
): Promise<{ readonly requeueAfter?: number } | undefined> {
  const status = (object.status ?? {}) as DependentStatus;
  // It may have said something else meanwhile.
  const latest = async () => (await ctx.read.get(kind, ctx.key.name)) ?? object;
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof WaitingError)) {
      if (error instanceof PipecdError || error instanceof BlockedError) {
        const found = await latest();
        const updates = claims(found);
        if (updates.length > 0) await ctx.status(kind, found, {}, updates);
      }
      throw told(status, error, ctx.now());
    }
    const { reason, message, againMillis, conditions } = error;
    const found = await latest();
    await ctx.status(kind, found, {}, [...claims(found), ...conditions, ready("False", reason, message)]);
    return againMillis === undefined ? undefined : { requeueAfter: againMillis };
  }
}

/** Waits longer the longer it has lasted, since `after` at the earliest. Milliseconds. */
export function pacedWait(
  { conditions }: DependentStatus,
  now: number,
  { least = 1_000, most = 60_000, after = 0 } = {},
): number {
  const waiting = Math.max(since(conditions, "Ready", "False") ?? now, after);
  return Math.min(most, Math.max(least, now - waiting));
}
