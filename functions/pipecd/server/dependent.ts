/**
 * Environment, Piped, Application, and EventRegistration depend on a control plane: they wait for it, register there, and poll
 * it for drift.
 */
import {
  BlockedError,
  type Condition,
  type ConditionUpdate,
  type Context,
  type Kind,
  type Stored,
} from "denrei";
import { timeText } from "denrei/kinds";
import { blockedBy, PipecdError, since } from "../api/errors.ts";
import { type Dependent, isReady, planeOf } from "../controlplane/planelookup.ts";
import { growingInterval, minute, syncMillis } from "../intervals.ts";
import { ControlPlane } from "../kinds.ts";

/** Status fields of every dependent object. */
export interface DependentStatus {
  readonly conditions?: readonly Condition[] | undefined;
  readonly lastSyncTime?: string | undefined;
  readonly syncedWith?: string | undefined;
}

/** Another object is not ready yet. Its change triggers a reconcile. */
export class WaitingError extends Error {
  override readonly name = "WaitingError";
  readonly reason: string;
  /** Poll interval for changes without an event. Milliseconds. */
  readonly pollMillis: number | undefined;
  /** Conditions in addition to Ready. */
  readonly conditions: readonly ConditionUpdate[];
  constructor(
    reason: string,
    message: string,
    pollMillis?: number,
    conditions: readonly ConditionUpdate[] = [],
  ) {
    super(message);
    this.reason = reason;
    this.pollMillis = pollMillis;
    this.conditions = conditions;
  }
}

/** The control plane of an object. Throws a {@link WaitingError} if it does not exist. */
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

/** Throws a {@link WaitingError} unless the control plane is ready. */
export function assertReady(plane: Stored<ControlPlane>): void {
  if (isReady(plane)) return;
  const { metadata, status } = plane;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const why = metadata.deletionTimestamp ? "it is being deleted" : (ready?.message ?? "it is new");
  throw new WaitingError("ControlPlaneNotReady", `the ControlPlane ${metadata.name} is not ready: ${why}`);
}

/**
 * Whether to compare with PipeCD: the control plane is ready, and either the interval has passed or it was unavailable since the
 * last sync and may have lost data.
 */
export const isSyncDue = (
  { lastSyncTime, syncedWith }: DependentStatus,
  plane: Stored<ControlPlane>,
  now: number,
  intervalMillis = syncMillis,
): boolean =>
  isReady(plane) &&
  (lastSyncTime === undefined ||
    syncedWith !== readyPeriodOf(plane) ||
    now - Date.parse(lastSyncTime) >= intervalMillis);

/** Identifies one period in which a control plane is ready. */
const readyPeriodOf = ({ metadata, status }: Stored<ControlPlane>): string => {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return `${metadata.uid} ${ready?.lastTransitionTime}`;
};

/** Status fields that record a sync with the control plane. */
export const syncedStatus = (plane: Stored<ControlPlane>, now: number) => ({
  lastSyncTime: timeText(now),
  syncedWith: readyPeriodOf(plane),
});

/** Time until the next sync is due. Milliseconds. */
export const untilSync = (
  { lastSyncTime }: DependentStatus,
  now: number,
  intervalMillis = syncMillis,
): number => Math.max(1_000, Date.parse(lastSyncTime ?? "") + intervalMillis - now || 0);

export const ready = (status: "True" | "False", reason: string, message: string): ConditionUpdate => ({
  type: "Ready",
  status,
  reason,
  message,
});

/** Turns an error of PipeCD into a `BlockedError` with a growing retry interval. Returns other errors unchanged. */
export function asBlocked({ conditions }: DependentStatus, error: unknown, now: number): unknown {
  if (!(error instanceof PipecdError)) return error;
  return blockedBy(error, since(conditions, "Stalled", "True"), now);
}

/**
 * Runs a reconcile and reports a {@link WaitingError} in the status. `furtherConditions` returns conditions to add
 * after a failure.
 */
export async function reconcileOrWait<T extends Dependent>(
  kind: Kind<T>,
  object: Stored<T>,
  ctx: Context,
  reconcile: () => Promise<{ readonly requeueAfter?: number } | undefined>,
  furtherConditions: (latest: Stored<T>) => readonly ConditionUpdate[] = () => [],
): Promise<{ readonly requeueAfter?: number } | undefined> {
  const status = (object.status ?? {}) as DependentStatus;
  // The reconcile may have written a newer status.
  const latest = async () => (await ctx.read.get(kind, ctx.key.name)) ?? object;
  try {
    return await reconcile();
  } catch (error) {
    if (!(error instanceof WaitingError)) {
      if (error instanceof PipecdError || error instanceof BlockedError) {
        const found = await latest();
        const updates = furtherConditions(found);
        if (updates.length > 0) await ctx.status(kind, found, {}, updates);
      }
      throw asBlocked(status, error, ctx.now());
    }
    const { reason, message, pollMillis, conditions } = error;
    const found = await latest();
    await ctx.status(kind, found, {}, [
      ...furtherConditions(found),
      ...conditions,
      ready("False", reason, message),
    ]);
    return pollMillis === undefined ? undefined : { requeueAfter: pollMillis };
  }
}

/** A poll interval that grows with the time spent waiting, counted from `after` at the earliest. Milliseconds. */
export function waitPollMillis(
  { conditions }: DependentStatus,
  now: number,
  { after = 0 }: { readonly after?: number } = {},
): number {
  const waiting = Math.max(since(conditions, "Ready", "False") ?? now, after);
  return growingInterval({ least: 1_000, most: minute }, waiting, now);
}
