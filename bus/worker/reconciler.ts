/**
 * Handles tickets: decodes the request, executes the reconcile, settles the ticket, and then settles the marks. The order of
 * these steps keeps the queue's promises (docs/queue.md).
 */
import { setMaxListeners } from "node:events";
import type { Logger } from "pino";
import type { InFlight } from "../activity/inflight.ts";
import type { ActivityReporter } from "../activity/reporter.ts";
import type { Delivery } from "../nats/delivery.ts";
import type { CrashRecords } from "../queue/crashrecords.ts";
import type { DeadLetterCleanup } from "../queue/deadlettercleanup.ts";
import type { DeadLetters } from "../queue/deadletters.ts";
import type { Seen, TicketQueue } from "../queue/queue.ts";
import { newRequest, parseRequest, type Request } from "../queue/request.ts";
import type { Timers } from "../queue/timers.ts";
import { keyText, type ObjectKey, parseKeySubject } from "../subjects.ts";
import { reconcileSpan } from "../tracing/messages.ts";
import { inSpan, spanned } from "../tracing/spans.ts";
import { traceId } from "../tracing/trace.ts";
import { type AttemptTools, untilAborted } from "./attempt.ts";
import type { Brake, Pacing } from "./brake.ts";
import type { Echoes } from "./echoes.ts";
import { OwnershipLostError } from "./errors.ts";
import { Executor } from "./executor.ts";
import { Failures, type RetryLimits } from "./failures.ts";
import { readFirst } from "./firstread.ts";
import { createJob, type Job } from "./job.ts";
import type { WorkerMetrics } from "./metrics.ts";
import type { Ownership, Ticket } from "./ownership.ts";
import { quarantine } from "./quarantine.ts";
import { settleMarks } from "./settlemarks.ts";
import { Settlement } from "./settlement.ts";

/** Dependencies of a reconciler. */
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
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #executor: Executor;
  readonly #failures: Failures;
  readonly #settlement: Settlement;
  readonly #quarantine: (job: Job) => Promise<void>;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#executor = new Executor(options.tools);
    this.#failures = new Failures({ ...options, ...options.tools });
    this.#settlement = new Settlement(options, this.#failures);
    this.#quarantine = quarantine({
      crashRecords: options.crashRecords,
      maxCrashes: options.retries.maxCrashes,
      kind: options.tools.fn.for,
      run: (job) => this.#run(job),
      giveUp: async (job, error) => {
        await this.#settlement.giveUp(job, error);
        await settleMarks(options.queue, job, job.seen);
      },
    });
  }

  /** Aborts running reconciles and hands their tickets back. */
  abort(): void {
    this.#executor.abort();
  }

  /** Handles one ticket. Does not throw. */
  async handle(delivery: Delivery): Promise<void> {
    const { ownership, metrics, log, tools } = this.#options;
    const ticket = ownership.take(delivery);
    if (ticket === undefined) {
      log.warn(
        { subject: delivery.subject, sequence: delivery.sequence },
        "ticket skipped: it may have been delivered before a pause",
      );
      return;
    }
    try {
      // Code that still runs after the ticket is lost occupies no slot and cannot write.
      await untilAborted(this.#process(ticket), ticket.lost);
    } catch (error) {
      if (error instanceof OwnershipLostError) {
        metrics.lost.inc({ name: tools.fn.name });
        log.warn({ err: error, subject: delivery.subject }, "ownership lost");
        return;
      }
      // The bus is down or refuses: it redelivers the ticket.
      log.error({ err: error, subject: delivery.subject }, "request not settled");
    } finally {
      ticket.release();
    }
  }

  async #process(ticket: Ticket): Promise<void> {
    const { queue, echoes, metrics, tools } = this.#options;
    const { delivery } = ticket;
    const key = this.#keyOf(delivery);
    if (key === undefined) return delivery.confirmDone();
    const request = requestIn(delivery);
    if (request instanceof Error) {
      const replay = newRequest({ type: "replay" });
      await this.#failures.moveToDeadLetters({ key, ticket }, replay, "MalformedRequest", request);
      return delivery.confirmDone();
    }
    const seen = seenByEcho(echoes, delivery, key, request);
    if (seen !== undefined) {
      metrics.echoes.inc({ name: tools.fn.name });
      await delivery.confirmDone();
      return settleMarks(queue, { key }, seen);
    }
    return this.#reconcile(this.#prepare(ticket, key, request));
  }

  /** The key of a ticket. Without one, there is no object to reconcile, and none that a dead letter could name. */
  #keyOf({ subject }: Delivery): ObjectKey | undefined {
    try {
      return parseKeySubject(subject).key;
    } catch (error) {
      this.#options.log.error({ err: error, subject }, "not a ticket, dropped");
      return undefined;
    }
  }

  #prepare(ticket: Ticket, key: ObjectKey, request: Request): Job {
    const { tools, echoes } = this.#options;
    const { fn } = tools;
    const span = reconcileSpan(fn.name, {
      ...{ key, attempt: request.attempt, deliveries: ticket.delivery.deliveries },
      cause: request.cause.type,
      traceparent: request.traceparent,
      links: [request.follows, ...(request.links ?? [])],
    });
    echoes.begin(key);
    // Start the read now, in parallel with the rest of the preparation.
    const controller = new AbortController();
    setMaxListeners(0, controller.signal);
    const firstRead = inSpan(span, () => readFirst(tools, fn.for, key, request, controller.signal));
    firstRead.catch(() => undefined);
    const log = this.#options.log.child({
      key: keyText(key),
      attempt: request.attempt,
      trace_id: traceId(span.traceparent),
    });
    return createJob({ ticket, key, request, firstRead, controller, seen: new Map(), span, log }, echoes);
  }

  async #reconcile(job: Job): Promise<void> {
    const { key, request, span, ticket } = job;
    const release = this.#options.inFlight.track(key, request.attempt, span.traceparent);
    const isRedelivered = ticket.delivery.deliveries > 1;
    try {
      await spanned(span, () => inSpan(span, () => (isRedelivered ? this.#quarantine(job) : this.#run(job))));
    } catch (error) {
      if (error instanceof OwnershipLostError) this.#settlement.reportLost(job);
      throw error;
    } finally {
      job.endWrites();
      release();
    }
  }

  async #run(job: Job): Promise<void> {
    const { queue, tools, brake, metrics } = this.#options;
    const { key, request } = job;
    const pacing = pacingOf(request);
    const pause = pacing ? brake.pause(key, pacing) : 0;
    const startedAt = tools.clock.now();
    if (pacing && pause > 0) {
      await this.#settlement.slowDown(job, pacing, pause, startedAt);
      return settleMarks(queue, job, new Map());
    }
    const { name } = tools.fn;
    metrics.waited.observe({ name }, Math.max(0, startedAt - request.since) / 1000);
    metrics.active.inc({ controller: name });
    const started = performance.now();
    let seen: Seen = new Map();
    let nextInMillis: number | undefined;
    try {
      const result = await this.#executor.run(job);
      seen = job.seen;
      nextInMillis = result.requeueAfter;
      await this.#settlement.succeed(job, result, startedAt);
    } catch (error) {
      const outcome = await this.#settlement.fail(job, error as Error, startedAt);
      if (outcome === "handed back") return;
      // A retry that runs soon must see all changes. A later retry, or none, covers the changes that the reconcile has seen:
      // otherwise a function that reports its failure in a status would trigger itself.
      if (outcome !== "soon") seen = job.seen;
    } finally {
      if (pacing === "timer" || (pacing === "event" && job.writes > 0)) brake.note(key, pacing, nextInMillis);
      metrics.active.dec({ controller: name });
      metrics.duration.observe({ controller: name }, (performance.now() - started) / 1000);
    }
    await settleMarks(queue, job, seen);
  }
}

/** The request in a ticket, or the error to put into a dead letter. */
function requestIn(delivery: Delivery): Request | Error {
  try {
    return parseRequest(delivery.string());
  } catch (error) {
    const found = delivery.string().slice(0, 200);
    return new Error(`expected a request in the ticket, found ${found}: ${(error as Error).message}`);
  }
}

/**
 * The versions that the writer of an echo has seen, if the ticket was made only for that echo. The event of a write can arrive
 * before its announcement and find the key free. But the announcement is sent before the writer acknowledges its ticket, so it
 * has arrived by the time the next ticket is delivered.
 */
function seenByEcho(
  echoes: Echoes,
  { deliveries }: Delivery,
  key: ObjectKey,
  request: Request,
): Seen | undefined {
  const { cause, also, routed } = request;
  if (routed === undefined || cause.type !== "object" || cause.correction || also !== undefined)
    return undefined;
  // An earlier owner may have started the reconcile.
  if (deliveries > 1) return undefined;
  const { uid, resourceVersion } = cause;
  return echoes.has(key, uid, resourceVersion) ? new Map([[uid, resourceVersion]]) : undefined;
}

/** Retries have their own pace, and webhooks and replays are never limited. */
function pacingOf({ cause, attempt, failed, braked }: Request): Pacing | undefined {
  if (attempt > 0 || failed || braked) return undefined;
  if (cause.type === "object") return "event";
  return cause.type === "timer" ? "timer" : undefined;
}
