/** Settles reconciles that failed: retries them, slows them down, or gives up, and reports this on the object. */

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
import { reportStalled, type StalledReport } from "./stalledreport.ts";

/** How retries are paced and when they end. */
export interface RetryLimits {
  /** First pause after a failure, doubled each time. Milliseconds. */
  readonly baseMillis: number;
  readonly capMillis: number;
  /** Number of failed attempts after which the request becomes a dead letter. */
  readonly maxAttempts: number;
  /** Number of workers that one request may crash before it becomes a dead letter. */
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

/** Dependencies of {@link Failures}. */
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

/** Explains a hot loop to the object's owner. */
const loopCauses: Readonly<Record<Pacing, string>> = {
  event:
    "Each reconcile wrote something: either the function writes a value that differs each time, or another client reverts the same field.",
  timer: "Each reconcile asked to be called again at once (requeueAfter).",
};

/** Settles the failed tickets of one function. Each method except {@link moveToDeadLetters} acknowledges the ticket. */
export class Failures {
  readonly #options: FailureOptions;

  constructor(options: FailureOptions) {
    this.#options = options;
  }

  /**
   * Schedules a retry after a pause, and reports it on the object. A retry before the announcements expire must see the events of
   * this attempt's writes, so those are retracted. The condition written here is an echo in either case.
   */
  async #retry(
    job: Job,
    pause: number,
    request: Request & { readonly reason: string },
    report?: StalledReport,
  ): Promise<FailureOutcome> {
    const { echoes, timers } = this.#options;
    const when = pause < believedMillis ? "soon" : "later";
    if (when === "soon") echoes.retract(job.key);
    if (report !== undefined) await this.#reportOnObject(job, report);
    // A retry must run even if the original event was an echo.
    const { routed: _, ...again } = request;
    await timers.set(job.key, pause, { ...again, failed: true }, job.ticket.lost);
    await confirm(job);
    return { when, pauseMillis: pause };
  }

  /** The reconcile threw: retries with backoff, or gives up. `later` means after the announcements of its writes have expired. */
  async fail(job: Job, error: Error): Promise<FailureOutcome> {
    const { fn, metrics, timers, retries } = this.#options;
    const { key, request } = job;
    metrics.errors.inc({ controller: fn.name });
    metrics.reconciles.inc({ controller: fn.name, result: "error" });
    if (error instanceof TerminalError) return this.giveUp(job, error);
    const pending = await timers.get(key);
    const failed = Math.max(request.attempt, pending?.attempt ?? 0) + 1;
    if (error instanceof BlockedError) return this.#retryBlocked(job, error);
    const blocker = blockerOf(error);
    if (blocker !== undefined) {
      const blocked = Math.max(request.blocked ?? 0, pending?.blocked ?? 0) + 1;
      return this.#retryUntilUnblocked(job, error, blocker, { ...request, attempt: failed - 1, blocked });
    }
    if (failed >= retries.maxAttempts) {
      const message = `gave up after ${failed} attempts; the last one failed with: ${error.message}`;
      return this.giveUp(job, new TerminalError("RetriesExhausted", message, { cause: error }), failed);
    }
    return this.#retryWithBackoff(job, error, failed);
  }

  #retryWithBackoff(job: Job, error: Error, failed: number): Promise<FailureOutcome> {
    const { fn, metrics, retries } = this.#options;
    const pause = backoff(failed, retries);
    job.log.warn(
      { err: error, failed, retryInMillis: Math.round(pause), ms: job.millis() },
      "reconcile failed",
    );
    metrics.retries.inc({ name: fn.name });
    // The message omits the number of attempts: a repeated error must not cause another write.
    const report: StalledReport = { reason: "Retrying", message: error.message, severity: "stalled" };
    const { blocked: _, ...request } = job.request;
    const again = { ...request, attempt: failed, reason: failureOf(error) };
    return this.#retry(job, pause, again, failed >= reportedFrom ? report : undefined);
  }

  #retryBlocked(job: Job, error: BlockedError): Promise<FailureOutcome> {
    const { reason, message, retryAfterMillis } = error;
    job.log.warn({ reason, err: error, ms: job.millis() }, "blocked");
    const again = { ...followUp(job.request, job.span.traceparent), reason };
    return this.#retry(job, retryAfterMillis, again, { reason, message, severity: "stalled-and-not-ready" });
  }

  /** Not the object's fault: retried without limit, and without counting as an attempt. */
  async #retryUntilUnblocked(
    job: Job,
    error: Error,
    { reason, message, error: answered }: Blocker,
    request: Request & { readonly blocked: number },
  ): Promise<FailureOutcome> {
    const { fn, metrics, retries } = this.#options;
    const isUnavailable = reason === apiServerUnavailable;
    const longest = blockedCapMillis[isUnavailable ? "unavailable" : "refused"];
    const capMillis = Math.min(retries.capMillis, longest);
    const answer = answered instanceof ApiError ? answered : undefined;
    const asked = Math.min(answer?.retryAfterMillis ?? 0, blockedCapMillis.refused);
    const pause = Math.max(asked, backoff(request.blocked, { ...retries, capMillis }));
    job.log.warn({ err: error, reason, retryInMillis: Math.round(pause) }, "blocked, retrying");
    metrics.retries.inc({ name: fn.name });
    // An API server that does not answer or rejects our credentials cannot store a condition either.
    const isSilent = answer ? answer.status === 401 : !(answered instanceof ApiUnansweredError);
    const isReported = request.blocked >= reportedFrom && !(isUnavailable && isSilent);
    const limitMillis = isUnavailable ? unavailableReportMillis : undefined;
    const report: StalledReport = { reason, message, severity: "stalled", limitMillis };
    const again = { ...followUp(request, job.span.traceparent), reason };
    return this.#retry(job, pause, again, isReported ? report : undefined);
  }

  /** Writes the dead letter and the condition, then acknowledges the ticket. */
  async giveUp(job: Job, error: TerminalError, attempts = job.request.attempt + 1): Promise<FailureOutcome> {
    const { fn, echoes, metrics } = this.#options;
    const { key, request, span, log } = job;
    echoes.retract(key);
    log.error({ err: error, reason: error.reason, ms: job.millis() }, "given up: dead letter");
    metrics.terminalErrors.inc({ controller: fn.name });
    // The dead letter first: a user who reads the condition must find it.
    const { traceparent } = span;
    await this.moveToDeadLetters(job, { ...request, attempt: attempts, traceparent }, error.reason, error);
    await this.#reportOnObject(job, {
      reason: error.reason,
      message: error.message,
      severity: "stalled-and-not-ready",
    });
    await confirm(job);
    return { when: "given up" };
  }

  /** Stores a dead letter, and does nothing else. */
  async moveToDeadLetters(
    { key, ticket }: Pick<Job, "key" | "ticket">,
    request: Request,
    reason: string,
    error: Error,
  ): Promise<void> {
    const { fn, metrics, replica, clock, deadLetters } = this.#options;
    metrics.deadLetters.inc({ name: fn.name, reason });
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

  /** Delays the request of an object in a hot loop. `pause` is in milliseconds. */
  async slowDown(job: Job, by: Pacing, pause: number): Promise<void> {
    const { key, request, log, ticket } = job;
    const { fn, metrics, timers } = this.#options;
    metrics.braked.inc({ name: fn.name });
    log.warn({ pauseMillis: pause }, "hot loop, slowing down");
    await this.#reportOnObject(job, {
      reason: "HotLoop",
      message: `${fn.name} reconciles this object in a hot loop, so it is slowed down. ${loopCauses[by]}`,
      severity: "stalled",
    });
    const also = [request.cause, ...(request.also ?? [])];
    const later: Request = { ...request, cause: { type: "timer" }, also, braked: true };
    await timers.set(key, pause, later, ticket.lost);
    await confirm(job);
  }

  /** The request for the version that the condition will replace, equal to the one for its event. */
  #changeOf({ key, span }: Job, { metadata: { uid, resourceVersion } }: Stored): Request {
    const { fn, clock } = this.#options;
    const { group, kind } = fn.for;
    return {
      ...newRequest({ type: "object", group, kind, ...key, uid, resourceVersion }, span.traceparent, clock),
      routed: true,
    };
  }

  /**
   * Writes the condition. Its event also covers all older versions. So if the object has a change that the reconcile has not
   * seen, that change is requested first, and the event of the condition is not an echo. Otherwise the condition counts as seen
   * and causes no reconcile.
   *
   * A failed write is only logged: it must not keep the request from being settled.
   */
  async #reportOnObject(job: Job, report: StalledReport): Promise<void> {
    const { fn, client, queue, recorder, clock } = this.#options;
    const { key, seen, span, ticket, log } = job;
    let hasSeenAll = true;
    try {
      await reportStalled(client, fn, key, report, {
        traceparent: span.traceparent,
        onRead: async (object) => {
          const change = this.#changeOf(job, object);
          hasSeenAll = isCovered(change, seen);
          if (!hasSeenAll) await queue.request(key, change);
        },
        assertOwned: () => ticket.assertOwned(),
        now: clock.now,
        onWrite({ metadata: { uid, resourceVersion } }) {
          if (hasSeenAll) seen.set(uid, resourceVersion);
          const event = hasSeenAll ? "echo" : "trigger";
          job.onWrite({ verb: "status", kind: fn.for, ...key, uid, resourceVersion, event });
        },
        onReported: (object) => recorder.record(object, "Warning", report.reason, report.message, log),
      });
    } catch (error) {
      if (error instanceof OwnershipLostError) throw error;
      log.warn({ err: error }, "condition not written");
    }
  }
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
