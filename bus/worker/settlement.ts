/**
 * Settles the ticket of a job after its attempt. A delay or retry is on the bus before the ticket is acknowledged, so that no
 * crash can lose it.
 */
import type { ActivityReporter } from "../activity/reporter.ts";
import type { DeadLetterCleanup } from "../queue/deadlettercleanup.ts";
import { timerRequest } from "../queue/request.ts";
import type { AttemptResult, AttemptTools } from "./attempt.ts";
import type { Pacing } from "./brake.ts";
import { endedReconcile, type ReconcileEnd } from "./endedreconcile.ts";
import { failureOf, OwnershipLostError, ShutdownError, type TerminalError } from "./errors.ts";
import type { FailureOptions, FailureOutcome, Failures } from "./failures.ts";
import { confirm, type Job } from "./job.ts";

/** Dependencies of a settlement. */
export interface SettlementOptions extends Pick<FailureOptions, "queue" | "timers" | "echoes" | "metrics"> {
  readonly tools: AttemptTools;
  readonly cleanup: Pick<DeadLetterCleanup, "remove">;
  readonly report: ActivityReporter;
}

/** Settles the tickets of one function in one process. */
export class Settlement {
  readonly #options: SettlementOptions;
  readonly #failures: Failures;

  constructor(options: SettlementOptions, failures: Failures) {
    this.#options = options;
    this.#failures = failures;
  }

  /** Settles a successful attempt. */
  async succeed(job: Job, result: AttemptResult, startedAt: number): Promise<void> {
    const { requeueAfter, wasStalled, object } = result;
    const { key, span, log } = job;
    const { timers, tools, metrics } = this.#options;
    const isOver = object === "gone" || object === "unselected";
    if (requeueAfter === undefined) await timers.dropRetry(key, isOver ? "all" : job.seen, wasStalled);
    else await timers.set(key, requeueAfter, timerRequest(span.traceparent, tools.clock), job.ticket.lost);
    if (object !== "quarantined") await this.#removeDeadLetter(job);
    await confirm(job);
    const label = requeueAfter === undefined ? "success" : requeueAfter === 0 ? "requeue" : "requeue_after";
    metrics.reconciles.inc({ controller: tools.fn.name, result: label });
    span.set(() => ({ "denrei.outcome": label, "denrei.writes": job.writes }));
    this.#report(job, {
      outcome: requeueAfter === undefined ? "success" : "requeue_after",
      startedAt,
      nextInMillis: requeueAfter,
    });
    log.debug({ ms: job.millis(), writes: job.writes }, "reconciled");
  }

  /** Settles a failed attempt: retries it, gives up, or hands the ticket back on shutdown. Throws if ownership was lost. */
  async fail(job: Job, error: Error, startedAt: number): Promise<FailureOutcome["when"] | "handed back"> {
    const { key, span, ticket, log } = job;
    if (error instanceof OwnershipLostError) {
      this.#options.echoes.retract(key);
      throw error;
    }
    if (error instanceof ShutdownError) {
      this.#options.echoes.retract(key);
      this.#report(job, { outcome: "handed_back", startedAt });
      span.set(() => ({ "denrei.outcome": "handed back" }));
      log.info("handed back: the worker is shutting down");
      ticket.delivery.handBack();
      return "handed back";
    }
    const next = await this.#failures.fail(job, error);
    const gaveUp = next.when === "given up";
    span.fail(failureOf(error));
    span.set(() => ({ "denrei.outcome": gaveUp ? next.when : "retry" }));
    this.#report(job, {
      outcome: gaveUp ? "dead_lettered" : "retry",
      startedAt,
      nextInMillis: gaveUp ? undefined : next.pauseMillis,
      error,
    });
    return next.when;
  }

  /** Gives up a job without an attempt. */
  async giveUp(job: Job, error: TerminalError): Promise<void> {
    const startedAt = this.#options.tools.clock.now();
    await this.#failures.giveUp(job, error);
    this.#report(job, { outcome: "dead_lettered", startedAt, error });
    job.span.fail(failureOf(error));
  }

  /** Delays the request of an object that is in a hot loop. */
  async slowDown(job: Job, by: Pacing, pauseMillis: number, startedAt: number): Promise<void> {
    job.span.set(() => ({ "denrei.outcome": "slowed down" }));
    await this.#failures.slowDown(job, by, pauseMillis);
    this.#report(job, { outcome: "slowed_down", startedAt, nextInMillis: pauseMillis });
  }

  /** Reports a job whose ticket was lost. */
  reportLost(job: Job): void {
    this.#report(job, { outcome: "lost", startedAt: this.#options.tools.clock.now() - job.millis() });
  }

  #report(job: Job, end: ReconcileEnd): void {
    const { report, queue, tools } = this.#options;
    report(queue.scope, job.key, endedReconcile(tools, job, end));
  }

  /** A failed lookup does not fail the reconcile: the next success tries again. */
  async #removeDeadLetter({ key, log }: Job): Promise<void> {
    try {
      await this.#options.cleanup.remove(key);
    } catch (error) {
      log.warn({ err: error }, "failed to remove the dead letter");
    }
  }
}
