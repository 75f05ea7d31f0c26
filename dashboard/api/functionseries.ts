/** The API for a function's figures over time. */
import type { KindName } from "./bus.ts";

/**
 * `GET /api/bus/functions/:function?seconds=`: the figures of a function over the last seconds, a day at most; with `from=` and
 * `to=`, over a period (seconds since the epoch). Needs `functions` get. 404 if the dashboard does not know the function.
 */
export interface FunctionSeries {
  readonly function: string;
  /** The kind that it reconciles. */
  readonly for: KindName;
  /** The server's clock. */
  readonly now: number;
  /** The first second that this dashboard process knows. Each process counts for itself, from its start. */
  readonly since: number;
  /** The period. It may begin before `since`. */
  readonly from: number;
  readonly to: number;
  /** Short steps are kept for an hour. */
  readonly stepSeconds: number;
  /** Start of each finished step, oldest first. */
  readonly times: readonly number[];
  readonly columns: FunctionColumns;
}

/** One value per step; null if unknown. */
export interface FunctionColumns {
  /** Reconciles that ended in the step, with any outcome. */
  readonly reconciles: Values;
  /** The part of `reconciles` that failed and will be retried. */
  readonly retries: Values;
  /** From the event to the start of the reconcile. Milliseconds; null without a reconcile. */
  readonly waitedP50: Values;
  readonly waitedP95: Values;
  readonly waitedP99: Values;
  /** From the start of the reconcile to its end. Milliseconds; null without a reconcile. */
  readonly tookP50: Values;
  readonly tookP95: Values;
  readonly tookP99: Values;
  /** The highest lengths in the step, as in `FunctionFigures` of bus.ts. */
  readonly events: Values;
  readonly pending: Values;
  readonly inFlight: Values;
  readonly deadLetters: Values;
}

/** The values of a column. */
export type Values = readonly (number | null)[];
