/** Executes the attempt of a job: with its time limit, and until ownership is lost or the worker shuts down. */
import { afterRunning } from "../config/debugger.ts";
import { delayOf } from "../kube/pending.ts";
import { type AttemptResult, type AttemptTools, attempt } from "./attempt.ts";
import { ReconcileTimeoutError, ShutdownError } from "./errors.ts";
import type { Job } from "./job.ts";

/** A timeout during a call to the API server that has taken this long is not the function's fault. Milliseconds. */
const slowCallMillis = 1000;

/** Executes the attempts of one function in one process. */
export class Executor {
  readonly #tools: AttemptTools;
  readonly #running = new Set<AbortController>();

  constructor(tools: AttemptTools) {
    this.#tools = tools;
  }

  /** Aborts all running attempts with a {@link ShutdownError}. */
  abort(): void {
    for (const controller of this.#running)
      controller.abort(new ShutdownError("the worker is shutting down"));
  }

  /** Runs the attempt of a job. Throws its error, or the reason for which it was aborted. */
  async run(job: Job): Promise<AttemptResult> {
    const { key, request, firstRead, controller, seen, span, ticket, log } = job;
    const lose = () => controller.abort(ticket.lost.reason);
    ticket.lost.addEventListener("abort", lose, { once: true });
    const clearLimit = afterRunning(this.#tools.fn.timeoutMillis, () => this.#timeOut(controller));
    this.#running.add(controller);
    try {
      return await attempt(this.#tools, {
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
      // An error after an abort is caused by the abort.
      throw controller.signal.aborted ? controller.signal.reason : error;
    } finally {
      clearLimit();
      this.#running.delete(controller);
      ticket.lost.removeEventListener("abort", lose);
    }
  }

  #timeOut(controller: AbortController): void {
    const { name, timeoutMillis } = this.#tools.fn;
    const cause = delayOf(controller.signal, Math.min(slowCallMillis, timeoutMillis / 2));
    const message = `${name} took longer than its limit of ${timeoutMillis} ms`;
    controller.abort(
      cause === undefined
        ? new ReconcileTimeoutError(message)
        : new ReconcileTimeoutError(`${message}, and waited for the API server: ${cause.message}`, { cause }),
    );
  }
}
