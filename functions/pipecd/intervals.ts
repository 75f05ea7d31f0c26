/** Retry and poll intervals. Milliseconds. */

export const minute = 60_000;

/** Retry interval of an object that waits for the user. A change triggers a reconcile; the retry covers changes without events. */
export const retryMillis = 5 * minute;

/** Poll interval for the state in PipeCD, which reports no changes. */
export const syncMillis = 8 * minute;

/** Sweep interval of objects whose children are all in Kubernetes. */
export const sweepMillis = 30 * minute;

/** Bounds of a growing interval. */
export interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** The time since the first attempt, within bounds: it doubles with each attempt. Undefined counts as now. */
export const growingInterval = ({ least, most }: Bounds, since: number | undefined, now: number): number =>
  Math.min(most, Math.max(least, since === undefined ? 0 : now - since));
