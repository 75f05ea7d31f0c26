/**
 * What becomes of a ticket: run the attempt, then settle it (done, delayed, retried, given up, handed back), and look
 * for marks. The order of the steps is what keeps the queue's promises, so it stands in one place.
 */
import { setMaxListeners } from "node:events";
import type { Logger } from "pino";
import type { InFlight } from "../activity/inflight.ts";
import { keptWrites, type RecordedWrite } from "../activity/record.ts";
import type { ActivityReporter } from "../activity/reporter.ts";
import { afterRunning } from "../config/debugger.ts";
import { traceId } from "../events/trace.ts";
import { delayOf } from "../kube/pending.ts";
import type { Delivery } from "../nats/delivery.ts";
import type { CrashRecords } from "../queue/crashrecords.ts";
import type { DeadLetterCleanup } from "../queue/deadlettercleanup.ts";
import type { DeadLetters } from "../queue/deadletters.ts";
import type { Seen, TicketQueue } from "../queue/queue.ts";
import { newRequest, parseRequest, type Request, timerRequest } from "../queue/request.ts";
import type { Timers } from "../queue/timers.ts";
import { keyText, type ObjectKey, parseKeySubject } from "../subjects.ts";
import { reconcileSpan } from "../tracing/messages.ts";
import { inSpan, spanned } from "../tracing/spans.ts";
import { type AttemptResult, type AttemptTools, attempt, untilAborted } from "./attempt.ts";
import type { Brake, Pacing } from "./brake.ts";
import type { Echoes } from "./echoes.ts";
import { failureOf, OwnershipLostError, ReconcileTimeoutError, ShutdownError } from "./errors.ts";
import { failures, type RetryLimits } from "./failures.ts";
import { confirm, type Job } from "./job.ts";
import type { WorkerMetrics } from "./metrics.ts";
import { endedReconcile, type ReconcileEnd } from "./outcome.ts";
import type { Ownership, Ticket } from "./ownership.ts";
import { quarantine } from "./quarantine.ts";
import { readFirst } from "./reads.ts";
import { settleMarks } from "./settlemarks.ts";

/** A call to the API server that has taken this long is not the function's fault. Milliseconds. */
const lateMillis = 1000;

/** What settling needs. */
export interface ReconcilerOptions {
  readonly tools: AttemptTools;
  readonly queue: TicketQueue;
  readonly timers: Timers;
  readonly deadLetters: DeadLetters;
  readonly cleanup: Pick<DeadLetterCleanup, "remove">;
  readonly crashRecords: CrashRecords;
  readonly ownership: Ownership;
  readonly echoes: Echoes;
  readonly brake: Brake;
  readonly retries: RetryLimits;
  readonly report: ActivityReporter;
  readonly inFlight: InFlight;
  readonly metrics: WorkerMetrics;
  readonly log: Logger;
}

/** Handles the tickets of one function in one process. */
export interface Reconciler {
  handle(delivery: Delivery): Promise<void>;
  /** Aborts what still runs; its tickets are handed back. */
  abort(): void;
}

/** A reconciler for one function. */
export function reconciler(options: ReconcilerOptions): Reconciler {
  const { tools, queue, timers, cleanup, ownership, echoes, brake, metrics } = options;
  const { fn } = tools;
  const labels = { controller: fn.name };
  const name = { name: fn.name };
  const running = new Set<AbortController>();
  const settle = (job: Pick<Job, "key"> & Partial<Job>, seen: Seen) => settleMarks(queue, job, seen);
  const { fail, giveUp, slowDown, moveToDeadLetters } = failures({ ...options, ...tools });
  const suspect = quarantine({
    crashRecords: options.crashRecords,
    maxCrashes: options.retries.maxCrashes,
    kind: fn.for,
    run,
    async giveUp(job, error) {
      const startedAt = tools.clock.now();
      await giveUp(job, error);
      tell(job, { outcome: "dead_lettered", startedAt, error });
      job.span.fail(failureOf(error));
      await settle(job, job.seen);
    },
  });

  function tell(job: Job, ending: ReconcileEnd): void {
    options.report(queue.scope, job.key, endedReconcile(tools, job, ending));
  }

  async function handle(delivery: Delivery): Promise<void> {
    const ticket = ownership.take(delivery);
    if (ticket === undefined) {
      options.log.warn(
        { subject: delivery.subject, sequence: delivery.sequence },
        "ticket left alone: it may have been delivered before a pause",
      );
      return;
    }
    try {
      // Whatever still runs after that holds no slot, and can write nothing.
      await untilAborted(open(ticket), ticket.lost);
    } catch (error) {
      if (error instanceof OwnershipLostError) {
        metrics.lost.inc(name);
        options.log.warn({ err: error, subject: delivery.subject }, "ownership lost");
        return;
      }
      // The bus is away or refuses: the ticket comes back by itself.
      options.log.error({ err: error, subject: delivery.subject }, "request not settled");
    } finally {
      ticket.release();
    }
  }

  async function open(ticket: Ticket): Promise<void> {
    const { delivery } = ticket;
    let key: ObjectKey;
    try {
      ({ key } = parseKeySubject(delivery.subject));
    } catch (error) {
      // It names no object, so there is nothing to reconcile and nothing that a dead letter could be about.
      options.log.error({ err: error, subject: delivery.subject }, "not a ticket, dropped");
      return delivery.confirmDone();
    }
    let request: Request;
    try {
      request = parseRequest(delivery.string());
    } catch (error) {
      const message = `expected a request in the ticket, found ${delivery.string().slice(0, 200)}: ${(error as Error).message}`;
      await moveToDeadLetters(
        { key, ticket },
        newRequest({ type: "replay" }),
        "MalformedRequest",
        new Error(message),
      );
      return delivery.confirmDone();
    }
    const written = echoIn(delivery, key, request);
    if (written !== undefined) {
      metrics.echoes.inc(name);
      await delivery.confirmDone();
      return settle({ key }, written);
    }
    const span = reconcileSpan(fn.name, {
      ...{ key, attempt: request.attempt, deliveries: delivery.deliveries },
      cause: request.cause.type,
      traceparent: request.traceparent,
      links: [request.follows, ...(request.links ?? [])],
    });
    echoes.begin(key);
    // The read is on its way while all the rest is prepared.
    const controller = new AbortController();
    setMaxListeners(0, controller.signal);
    const firstRead = inSpan(span, () => readFirst(tools, fn.for, key, request, controller.signal));
    firstRead.catch(() => undefined);
    const log = options.log.child({
      key: keyText(key),
      attempt: request.attempt,
      trace_id: traceId(span.traceparent),
    });
    const job = jobOf({ ticket, key, request, firstRead, controller, seen: new Map(), span, log });
    const release = options.inFlight.track(key, request.attempt, span.traceparent);
    try {
      await spanned(span, () => inSpan(span, () => (delivery.deliveries > 1 ? suspect(job) : run(job))));
    } catch (error) {
      if (error instanceof OwnershipLostError)
        tell(job, { outcome: "lost", startedAt: tools.clock.now() - job.millis() });
      throw error;
    } finally {
      release();
    }
  }

  /**
   * What the writer of an echo has seen, if a ticket stands for that alone. The event of a write can be quicker than its
   * announcement, and find that nobody owns the key any more; but the announcement is sent before the ticket is given back,
   * and so is known to whoever gets the one that the event has made.
   */
  function echoIn({ deliveries }: Delivery, key: ObjectKey, request: Request): Seen | undefined {
    const { cause, also, routed } = request;
    if (routed === undefined || cause.type !== "object" || also !== undefined) return undefined;
    // Whoever had it before may have begun.
    if (deliveries > 1) return undefined;
    const { uid, resourceVersion } = cause;
    return echoes.has(key, uid, resourceVersion) ? new Map([[uid, resourceVersion]]) : undefined;
  }

  function jobOf(
    facts: Omit<Job, "writes" | "recordedWrites" | "firstWrite" | "millis" | "onWrite" | "flushEchoes">,
  ): Job {
    const { ticket, key } = facts;
    let writes = 0;
    const recordedWrites: RecordedWrite[] = [];
    const wrote = Promise.withResolvers<void>();
    const started = performance.now();
    return {
      ...facts,
      millis: () => Math.round(performance.now() - started),
      firstWrite: wrote.promise,
      get writes() {
        return writes;
      },
      recordedWrites,
      onWrite({ verb, kind: { group, kind }, namespace, name, uid, resourceVersion, event }) {
        writes++;
        const write = { group, kind, namespace, name, resourceVersion };
        if (recordedWrites.length < keptWrites) recordedWrites.push({ verb, ...write });
        wrote.resolve();
        // News wakes the key, but whoever reconciles it then must not read an older version than this.
        echoes.announce(key, { ...write, uid }, event === "echo" ? ticket.ownedMillis() : 0);
      },
      flushEchoes: echoes.flush,
    };
  }

  async function run(job: Job): Promise<void> {
    const { key, request, span, ticket, log } = job;
    const pacing = pacingOf(request);
    const pause = pacing ? brake.pause(key, pacing) : 0;
    const startedAt = tools.clock.now();
    if (pacing && pause > 0) {
      span.set(() => ({ "denrei.outcome": "slowed down" }));
      await slowDown(job, pacing, pause);
      tell(job, { outcome: "slowed_down", startedAt, nextInMillis: pause });
      return settle(job, new Map());
    }
    metrics.waited.observe(name, Math.max(0, startedAt - request.since) / 1000);
    metrics.active.inc(labels);
    const started = performance.now();
    let seen: Seen = new Map();
    let nextInMillis: number | undefined;
    try {
      const result = await runAttempt(job);
      seen = job.seen;
      nextInMillis = result.requeueAfter;
      await succeed(job, result);
      tell(job, {
        outcome: nextInMillis === undefined ? "success" : "requeue_after",
        startedAt,
        nextInMillis,
      });
      log.debug({ ms: job.millis(), writes: job.writes }, "reconciled");
    } catch (error) {
      if (error instanceof OwnershipLostError) {
        echoes.retract(key);
        throw error;
      }
      if (error instanceof ShutdownError) {
        echoes.retract(key);
        tell(job, { outcome: "handed_back", startedAt });
        span.set(() => ({ "denrei.outcome": "handed back" }));
        log.info("handed back: the worker is shutting down");
        return ticket.delivery.handBack();
      }
      // What is tried again soon has to see all changes. What was given up, or waits for its time, was so with those that it
      // has seen: or whoever reports a failure in a status would wake itself with it.
      const failure = error as Error;
      const next = await fail(job, failure);
      const gaveUp = next.when === "given up";
      span.fail(failureOf(failure));
      span.set(() => ({ "denrei.outcome": gaveUp ? next.when : "retry" }));
      tell(job, {
        outcome: gaveUp ? "dead_lettered" : "retry",
        startedAt,
        nextInMillis: gaveUp ? undefined : next.pauseMillis,
        error: failure,
      });
      if (next.when !== "soon") seen = job.seen;
    } finally {
      if (pacing === "timer" || (pacing === "event" && job.writes > 0)) brake.note(key, pacing, nextInMillis);
      metrics.active.dec(labels);
      metrics.duration.observe(labels, (performance.now() - started) / 1000);
    }
    await settle(job, seen);
  }

  async function runAttempt(job: Job): Promise<AttemptResult> {
    const { key, request, firstRead, controller, seen, span, ticket, log } = job;
    const lose = () => controller.abort(ticket.lost.reason);
    ticket.lost.addEventListener("abort", lose, { once: true });
    const forgetLimit = afterRunning(fn.timeoutMillis, () => {
      const cause = delayOf(controller.signal, Math.min(lateMillis, fn.timeoutMillis / 2));
      const message = `${fn.name} took longer than its limit of ${fn.timeoutMillis} ms`;
      controller.abort(
        cause === undefined
          ? new ReconcileTimeoutError(message)
          : new ReconcileTimeoutError(`${message}, and waited for the API server: ${cause.message}`, {
              cause,
            }),
      );
    });
    running.add(controller);
    try {
      return await attempt(tools, {
        key,
        request,
        firstRead,
        seen,
        traceparent: span.traceparent,
        log,
        signal: controller.signal,
        assertOwned() {
          controller.signal.throwIfAborted();
          ticket.assertOwned();
        },
        onWrite: job.onWrite,
      });
    } catch (error) {
      // What fails because it was aborted fails for the abort's reason.
      throw controller.signal.aborted ? controller.signal.reason : error;
    } finally {
      forgetLimit();
      running.delete(controller);
      ticket.lost.removeEventListener("abort", lose);
    }
  }

  /** A delayed request is on the bus before the ticket is given back, so that no crash can lose it. */
  async function succeed(job: Job, { requeueAfter, wasStalled, object }: AttemptResult): Promise<void> {
    const { key, span } = job;
    if (requeueAfter === undefined)
      await timers.dropRetry(key, object === "gone" ? "all" : job.seen, wasStalled);
    else await timers.set(key, requeueAfter, timerRequest(span.traceparent, tools.clock), job.ticket.lost);
    if (object !== "quarantined") await forgetLetter(job);
    await confirm(job);
    const result = requeueAfter === undefined ? "success" : requeueAfter === 0 ? "requeue" : "requeue_after";
    metrics.reconciles.inc({ ...labels, result });
    span.set(() => ({ "denrei.outcome": result, "denrei.writes": job.writes }));
  }

  /** It was reconciled all the same when the bus does not say whether it has a letter; the next success asks again. */
  async function forgetLetter({ key, log }: Job): Promise<void> {
    try {
      await cleanup.remove(key);
    } catch (error) {
      log.warn({ err: error }, "dead letter not looked for");
    }
  }

  return {
    handle,
    abort() {
      for (const controller of running) controller.abort(new ShutdownError("the worker is shutting down"));
    },
  };
}

/** Retries have a pace of their own, and webhooks and people are never too many. */
function pacingOf({ cause, attempt, failed, braked }: Request): Pacing | undefined {
  if (attempt > 0 || failed || braked) return undefined;
  if (cause.type === "object") return "event";
  return cause.type === "timer" ? "timer" : undefined;
}
