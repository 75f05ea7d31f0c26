/** Settles reconciles that failed: retries, slows down, or gives up, and reports it on the object. */

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
  /** Workers that may crash over one request before it becomes a dead letter. */
  readonly maxCrashes: number;
}

export const defaultRetries: RetryLimits = {
  baseMillis: 200,
  capMillis: 300_000,
  maxAttempts: 15,
  maxCrashes: 3,
};

/** From this failed attempt on, a condition reports the retries. */
const reportedFrom = 3;

/** Longest retry interval while something outside the object blocks it, even if the API server asks for more. Milliseconds. */
const blockedCapMillis = { unavailable: 4_000, refused: 60_000 };

/** Time limit for writing a condition while the API server is unavailable. Milliseconds. */
const unavailableReportMillis = 5_000;

/** Characters of a message or stack that a dead letter keeps. */
const maxTextLength = 4000;

/** Dependencies of {@link failures}. */
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

/** The outcome of a failed reconcile: a retry after a pause in milliseconds, or none. */
export type FailureOutcome =
  | { readonly when: "soon" | "later"; readonly pauseMillis: number }
  | { readonly when: "given up" };

/** Ways to settle a failed ticket. Except for `moveToDeadLetters`, each acknowledges the ticket. */
export interface Failures {
  /** The reconcile threw: retries with backoff, or gives up. `later` means after the announcements of its writes have expired. */
  fail(job: Job, error: Error): Promise<FailureOutcome>;
  /** Writes a dead letter and a condition, without a retry. */
  giveUp(job: Job, error: TerminalError): Promise<FailureOutcome>;
  /** Delays the request of an object in a hot loop. Milliseconds. */
  slowDown(job: Job, by: Pacing, pauseMillis: number): Promise<void>;
  /** Stores a dead letter, and does nothing else. */
  moveToDeadLetters(
    job: Pick<Job, "key" | "ticket">,
    request: Request,
    reason: string,
    error: Error,
  ): Promise<void>;
}

/** Explains a hot loop to the object's owner. */
const loopCauses: Readonly<Record<Pacing, string>> = {
  event:
    "Each reconcile wrote something: either the function writes a value that differs each time, or another client reverts the same field.",
  timer: "Each reconcile asked to be called again at once (requeueAfter).",
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
   * Schedules a retry after a pause, and reports it on the object. A retry before the announcements expire must see the events of
   * this attempt's writes, so those are retracted. The condition written here is an echo in either case.
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
    // A retry must run even if the original event was an echo.
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
    // The message omits the number of attempts: a repeated error must not cause another write.
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

  /** Not the object's fault: retried without limit, and without counting as an attempt. */
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
    // An API server that does not answer or rejects our credentials cannot store a condition either.
    const isSilent = answer ? answer.status === 401 : !(refusal instanceof ApiUnansweredError);
    const isReported = request.blocked >= reportedFrom && !(isUnavailable && isSilent);
    const limitMillis = isUnavailable ? unavailableReportMillis : undefined;
    const trouble: StalledReport = { reason, message, severity: "stalled", limitMillis };
    const again = { ...followUp(request, job.span.traceparent), reason };
    return retry(job, pause, again, isReported ? trouble : undefined);
  }

  /** Writes the dead letter and the condition, then acknowledges the ticket. */
  async function giveUp(
    job: Job,
    error: TerminalError,
    attempts = job.request.attempt + 1,
  ): Promise<FailureOutcome> {
    const { key, request, span, log } = job;
    echoes.retract(key);
    log.error({ err: error, reason: error.reason, ms: job.millis() }, "given up: dead letter");
    metrics.terminalErrors.inc(labels);
    // The dead letter first: a user who reads the condition must find it.
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
    log.warn({ pauseMillis: pause }, "hot loop, slowing down");
    await reportOnObject(job, {
      reason: "HotLoop",
      message: `${fn.name} reconciles this object in a hot loop, so it is slowed down. ${loopCauses[by]}`,
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

  /** The request for the version that the condition will replace, equal to the one for its event. */
  function changeOf({ key, span }: Job, { metadata: { uid, resourceVersion } }: Stored): Request {
    const { group, kind } = fn.for;
    return {
      ...newRequest({ type: "object", group, kind, ...key, uid, resourceVersion }, span.traceparent, clock),
      routed: true,
    };
  }

  /**
   * Writes the condition. Its event also covers all older versions. So a change that the reconcile has not seen is requested
   * first, and then the event of the condition is not an echo. Otherwise the condition counts as seen and causes no reconcile.
   *
   * A failed write is only logged: it must not keep the request from being settled.
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

/** Exponential backoff, with jitter over its upper half so that objects that failed together do not retry together. */
export function backoff(
  failed: number,
  { baseMillis, capMillis }: RetryLimits,
  random = Math.random,
): number {
  const full = Math.min(capMillis, baseMillis * 2 ** Math.min(failed - 1, 30));
  return full / 2 + (random() * full) / 2;
}
