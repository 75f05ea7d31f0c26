/** What becomes of a reconcile that did not end well: retried, slowed down, or given up; and the object says so. */

import { apiServerUnavailable, type Blocker, blockerOf } from "../kube/blocker.ts";
import type { KubeClient } from "../kube/client.ts";
import { ApiError, ApiUnansweredError } from "../kube/errors.ts";
import type { Stored } from "../kube/object.ts";
import type { BusClock } from "../nats/busclock.ts";
import type { DeadLetter, DeadLetters } from "../queue/deadletters.ts";
import { isCovered, type TicketQueue } from "../queue/queue.ts";
import { followUp, newRequest, type Request } from "../queue/request.ts";
import type { Timers } from "../queue/timers.ts";
import { redacted } from "../values/redact.ts";
import type { Pacing } from "./brake.ts";
import { believedMillis, type Echoes } from "./echoes.ts";
import { BlockedError, failureOf, OwnershipLostError, TerminalError } from "./errors.ts";
import type { ReconcileFunction } from "./function.ts";
import { confirm, type Job } from "./job.ts";
import type { WorkerMetrics } from "./metrics.ts";
import type { Recorder } from "./recorder.ts";
import { reportStalled, type StalledReport } from "./report.ts";

/** How retries are paced and when they end. */
export interface RetryLimits {
  /** First pause after a failure, doubled each time. Milliseconds. */
  readonly baseMillis: number;
  readonly capMillis: number;
  /** Failed attempts after which the request becomes a dead letter. */
  readonly maxAttempts: number;
  /** Workers that may die over one request before it becomes a dead letter. */
  readonly maxCrashes: number;
}

export const defaultRetries: RetryLimits = {
  baseMillis: 200,
  capMillis: 300_000,
  maxAttempts: 15,
  maxCrashes: 3,
};

/** From this failed attempt on the object says that it is being retried. */
const reportedFrom = 3;

/**
 * Longest pause between tries while something outside the object blocks it, even if the API server asks for a longer one.
 * Milliseconds.
 */
const blockedCapMillis = { unavailable: 4_000, refused: 60_000 };

/** How long a condition may take that says that the API server is busy. Milliseconds. */
const unavailableReportMillis = 5_000;

/** Characters of a message or stack that a dead letter keeps. */
const maxTextLength = 4000;

/** What failing needs. */
export interface FailureOptions {
  readonly fn: ReconcileFunction;
  readonly client: KubeClient;
  readonly recorder: Recorder;
  readonly replica: string;
  readonly queue: TicketQueue;
  readonly timers: Timers;
  readonly deadLetters: DeadLetters;
  readonly echoes: Pick<Echoes, "retract">;
  readonly retries: RetryLimits;
  readonly metrics: WorkerMetrics;
  readonly clock: BusClock;
}

/** What becomes of a failed reconcile. It is tried again after the pause, in milliseconds. */
export type FailureOutcome =
  | { readonly when: "soon" | "later"; readonly pauseMillis: number }
  | { readonly when: "given up" };

/** Ways for a ticket to end that is not done. Each of them gives the ticket back. */
export interface Failures {
  /** The reconcile threw: retry with backoff, or give up. Says when: `later` is when nobody believes its echoes any more. */
  fail(job: Job, error: Error): Promise<FailureOutcome>;
  /** Dead letter and condition; nothing is retried. */
  giveUp(job: Job, error: TerminalError): Promise<FailureOutcome>;
  /** The object is in a hot loop: the request is delayed. Milliseconds. */
  slowDown(job: Job, by: Pacing, pauseMillis: number): Promise<void>;
  /** Stores a dead letter, and no more. */
  moveToDeadLetters(
    job: Pick<Job, "key" | "ticket">,
    request: Request,
    reason: string,
    error: Error,
  ): Promise<void>;
}

/** What causes a hot loop, for the object's owner. */
const loopCauses: Readonly<Record<Pacing, string>> = {
  event:
    "It wrote something each time: either the function writes a value that is never the same twice, or another client sets the same field back.",
  timer: "It asked each time to be called again at once (requeueAfter).",
};

/** The failures of one function. */
export function failures({
  fn,
  client,
  recorder,
  replica,
  queue,
  timers,
  deadLetters,
  echoes,
  retries,
  metrics,
  clock,
}: FailureOptions): Failures {
  const labels = { controller: fn.name };
  const name = { name: fn.name };

  /**
   * Tries again after a pause, and says so on the object. What the attempt has written is no news to one that comes late
   * enough; what is said here is none to either.
   */
  async function retry(
    job: Job,
    pause: number,
    request: Request & { readonly reason: string },
    report?: StalledReport,
  ): Promise<FailureOutcome> {
    const when = pause < believedMillis ? "soon" : "later";
    if (when === "soon") echoes.retract(job.key);
    if (report !== undefined) await reportOnObject(job, report);
    // A retry is wanted whatever its event was.
    const { routed: _, ...again } = request;
    await timers.set(job.key, pause, { ...again, failed: true }, job.ticket.lost);
    await confirm(job);
    return { when, pauseMillis: pause };
  }

  async function fail(job: Job, error: Error): Promise<FailureOutcome> {
    const { key, request, span, log } = job;
    metrics.errors.inc(labels);
    metrics.reconciles.inc({ ...labels, result: "error" });
    if (error instanceof TerminalError) return giveUp(job, error);
    const pending = await timers.get(key);
    const failed = Math.max(request.attempt, pending?.attempt ?? 0) + 1;
    if (error instanceof BlockedError) {
      const { reason, message } = error;
      log.warn({ reason, err: error, ms: job.millis() }, "blocked");
      return retry(
        job,
        error.retryAfterMillis,
        { ...followUp(request, span.traceparent), reason },
        {
          reason,
          message,
          severity: "stalled-and-not-ready",
        },
      );
    }
    const blocker = blockerOf(error);
    if (blocker !== undefined) {
      const blocked = Math.max(request.blocked ?? 0, pending?.blocked ?? 0) + 1;
      return retryUntilUnblocked(job, error, blocker, { ...request, attempt: failed - 1, blocked });
    }
    if (failed >= retries.maxAttempts) {
      const message = `gave up after ${failed} attempts; the last one failed with: ${error.message}`;
      return giveUp(job, new TerminalError("RetriesExhausted", message, { cause: error }), failed);
    }
    const pause = backoff(failed, retries);
    log.warn({ err: error, failed, retryInMillis: Math.round(pause), ms: job.millis() }, "reconcile failed");
    metrics.retries.inc(name);
    // Without the number of the attempt: the same error again must not be another write.
    const trouble: StalledReport = { reason: "Retrying", message: error.message, severity: "stalled" };
    const { blocked: _, ...again } = request;
    const reason = failureOf(error);
    return retry(
      job,
      pause,
      { ...again, attempt: failed, reason },
      failed >= reportedFrom ? trouble : undefined,
    );
  }

  /** Not the object's fault, so it uses up none of its attempts: retried for as long as it takes. */
  async function retryUntilUnblocked(
    job: Job,
    error: Error,
    { reason, message, error: refusal }: Blocker,
    request: Request & { readonly blocked: number },
  ): Promise<FailureOutcome> {
    const isUnavailable = reason === apiServerUnavailable;
    const longest = blockedCapMillis[isUnavailable ? "unavailable" : "refused"];
    const capMillis = Math.min(retries.capMillis, longest);
    const answer = refusal instanceof ApiError ? refusal : undefined;
    const asked = Math.min(answer?.retryAfterMillis ?? 0, blockedCapMillis.refused);
    const pause = Math.max(asked, backoff(request.blocked, { ...retries, capMillis }));
    job.log.warn({ err: error, reason, retryInMillis: Math.round(pause) }, "blocked, retrying");
    metrics.retries.inc(name);
    // An API server that does not answer, or does not know us, takes no condition either.
    const isSilent = answer ? answer.status === 401 : !(refusal instanceof ApiUnansweredError);
    const isReported = request.blocked >= reportedFrom && !(isUnavailable && isSilent);
    const limitMillis = isUnavailable ? unavailableReportMillis : undefined;
    const trouble: StalledReport = { reason, message, severity: "stalled", limitMillis };
    const again = { ...followUp(request, job.span.traceparent), reason };
    return retry(job, pause, again, isReported ? trouble : undefined);
  }

  /** Condition, dead letter, and the ticket is done. */
  async function giveUp(
    job: Job,
    error: TerminalError,
    attempts = job.request.attempt + 1,
  ): Promise<FailureOutcome> {
    const { key, request, span, log } = job;
    echoes.retract(key);
    log.error({ err: error, reason: error.reason, ms: job.millis() }, "given up: dead letter");
    metrics.terminalErrors.inc(labels);
    // The letter first: whoever reads the condition finds it.
    const { traceparent } = span;
    await moveToDeadLetters(job, { ...request, attempt: attempts, traceparent }, error.reason, error);
    await reportOnObject(job, {
      reason: error.reason,
      message: error.message,
      severity: "stalled-and-not-ready",
    });
    await confirm(job);
    return { when: "given up" };
  }

  async function moveToDeadLetters(
    { key, ticket }: Pick<Job, "key" | "ticket">,
    request: Request,
    reason: string,
    error: Error,
  ): Promise<void> {
    metrics.deadLetters.inc({ ...name, reason });
    const letter: DeadLetter = {
      reason,
      message: redacted(error.message).slice(0, maxTextLength),
      ...(error.stack && { stack: redacted(error.stack).slice(0, maxTextLength) }),
      attempts: request.attempt,
      cause: request.cause,
      ...(request.traceparent && { traceparent: request.traceparent }),
      replica,
      time: new Date(clock.now()).toISOString(),
    };
    await deadLetters.put(key, letter, ticket.lost);
  }

  async function slowDown(job: Job, by: Pacing, pause: number): Promise<void> {
    const { key, request, log } = job;
    metrics.braked.inc(name);
    log.warn({ pauseMillis: pause }, "hot loop: reconciled again and again");
    await reportOnObject(job, {
      reason: "HotLoop",
      message: `${fn.name} reconciled this object again and again, so it is slowed down. ${loopCauses[by]}`,
      severity: "stalled",
    });
    const also = [request.cause, ...(request.also ?? [])];
    await timers.set(
      key,
      pause,
      { ...request, cause: { type: "timer" }, also, braked: true },
      job.ticket.lost,
    );
    await confirm(job);
  }

  /** What the object says before the condition is written, as the change that its event is, should that come later. */
  function changeOf({ key, span }: Job, { metadata: { uid, resourceVersion } }: Stored): Request {
    const { group, kind } = fn.for;
    return {
      ...newRequest({ type: "object", group, kind, ...key, uid, resourceVersion }, span.traceparent, clock),
      routed: true,
    };
  }

  /**
   * Writes the condition. The event of it stands for all that came before: a change that the reconcile has not seen is asked
   * for before, and then the event is news as well; where there was none, the condition counts as seen and wakes nobody.
   *
   * A condition that can not be written must not keep the request from being settled.
   */
  async function reportOnObject(job: Job, trouble: StalledReport): Promise<void> {
    const { key, seen, span, ticket, log } = job;
    let hasSeenAll = true;
    try {
      await reportStalled(client, fn, key, trouble, {
        traceparent: span.traceparent,
        async onRead(object) {
          const change = changeOf(job, object);
          hasSeenAll = isCovered(change, seen);
          if (!hasSeenAll) await queue.request(key, change);
        },
        assertOwned: () => ticket.assertOwned(),
        now: clock.now,
        onWrite({ metadata: { uid, resourceVersion } }) {
          if (hasSeenAll) seen.set(uid, resourceVersion);
          const event = hasSeenAll ? "echo" : "news";
          job.onWrite({ verb: "status", kind: fn.for, ...key, uid, resourceVersion, event });
        },
        onReported: (object) => recorder.record(object, "Warning", trouble.reason, trouble.message, log),
      });
    } catch (error) {
      if (error instanceof OwnershipLostError) throw error;
      log.warn({ err: error }, "condition not written");
    }
  }

  return { fail, giveUp, slowDown, moveToDeadLetters };
}

/** Exponential with full jitter above the half, so that objects that failed together do not retry together. */
export function backoff(
  failed: number,
  { baseMillis, capMillis }: RetryLimits,
  random = Math.random,
): number {
  const full = Math.min(capMillis, baseMillis * 2 ** Math.min(failed - 1, 30));
  return full / 2 + (random() * full) / 2;
}
