/** Stop signals: from Ctrl-C, a supervisor, or a closed terminal. */
import { constants } from "node:os";

/** Signals that request a stop. */
export const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Handlers of stop signals. */
export interface StopHandlers {
  /** The first request: stop in order. */
  readonly first: (signal: NodeJS.Signals) => void;
  /** A later request: stop at once. */
  readonly again: (signal: NodeJS.Signals) => void;
}

/**
 * npm and other launchers forward a Ctrl-C that the child has already received from the terminal. A signal within this time
 * belongs to the same request. Milliseconds.
 */
const sameRequestMillis = 1000;

/** Calls the handlers instead of ending the process. */
export function onStopSignals({ first, again }: StopHandlers): void {
  let asked: number | undefined;
  for (const signal of stopSignals) {
    process.on(signal, () => {
      if (asked === undefined) {
        asked = performance.now();
        first(signal);
      } else if (performance.now() - asked >= sameRequestMillis) again(signal);
    });
  }
}

/** The exit code that shells expect after a signal: 130 for Ctrl-C, 143 for SIGTERM. */
export const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];
