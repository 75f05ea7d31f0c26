/** Converts the end of a job into an activity record. */
import type { EndedReconcile, Outcome } from "../activity/record.ts";
import type { AttemptTools } from "./attempt.ts";
import { failureOf } from "./errors.ts";
import type { Job } from "./job.ts";

/** How a reconcile ended. */
export interface ReconcileEnd {
  readonly outcome: Outcome;
  /** When the reconcile began: milliseconds since the epoch. */
  readonly startedAt: number;
  readonly nextInMillis?: number | undefined;
  readonly error?: Error;
}

/** The activity of a job that has ended. */
export function endedReconcile(
  { fn, replica, clock }: Pick<AttemptTools, "fn" | "replica" | "clock">,
  { request, span, recordedWrites, writes }: Pick<Job, "request" | "span" | "recordedWrites" | "writes">,
  { outcome, startedAt, nextInMillis, error }: ReconcileEnd,
): EndedReconcile {
  const { group, kind } = fn.for;
  return {
    replica,
    group,
    kind,
    causes: [request.cause, ...(request.also ?? [])],
    attempt: request.attempt,
    startedAt,
    waitedMillis: Math.max(0, startedAt - request.since),
    tookMillis: Math.max(0, clock.now() - startedAt),
    outcome,
    ...(nextInMillis !== undefined && { nextInMillis: Math.round(nextInMillis) }),
    ...(error && { error: { name: failureOf(error), message: error.message } }),
    writes: recordedWrites,
    writeCount: writes,
    traceparent: span.traceparent,
  };
}
