/** Why a process is not ready: for `/readyz`, metrics, and the log. */
import type { Logger } from "pino";

const pollMillis = 1000;

/** Why a started process is not ready. */
type Check = () => string | undefined;

/** The readiness of one process. */
export class Readiness {
  /** By attempt that is retried. */
  readonly #errors = new Map<string, string>();
  /** Why the connection to the bus is lost. */
  #lost: string | undefined;
  #check: Check | undefined;

  /** Reports why an attempt is retried, and with undefined that it succeeded. */
  report(attempt: string, reason: string | undefined): void {
    if (reason === undefined) this.#errors.delete(attempt);
    else this.#errors.set(attempt, reason);
  }

  /** Reports why the connection to the bus is lost, and with undefined that it is restored. */
  reportConnection(reason: string | undefined): void {
    this.#lost = reason;
  }

  /** The process has started: from now on `check` reports why it is not ready. */
  started(check: Check): void {
    this.#check = check;
  }

  get isStarted(): boolean {
    return this.#check !== undefined;
  }

  /** Undefined if the process is ready. */
  reason(): string | undefined {
    if (this.#errors.size > 0) return [...this.#errors.values()].join("\n");
    return this.#check === undefined ? "starting" : (this.#lost ?? this.#check());
  }

  /** Logs changes: each reason once, and the return to ready. Returns the function that stops it. */
  watch(log: Logger): () => void {
    let logged: string | undefined;
    const timer = setInterval(() => {
      const reason = this.reason();
      if (reason !== undefined && reason !== logged) log.error(reason);
      if (reason === undefined && logged !== undefined) log.info("ready again");
      logged = reason;
    }, pollMillis);
    timer.unref();
    return () => clearInterval(timer);
  }
}
