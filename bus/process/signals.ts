/** Being asked to end: by Ctrl-C, by a supervisor, by the terminal's end. */
import { constants } from "node:os";

/** Signals that ask a process to end. */
export const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Who is told. */
export interface StopHandlers {
  /** The first request: to end in order. */
  readonly first: (signal: NodeJS.Signals) => void;
  /** A later one: somebody has no patience left. */
  readonly again: (signal: NodeJS.Signals) => void;
}

/**
 * npm passes a Ctrl-C on to a child that the terminal has told already, and so do other launchers: what follows
 * within this time is the same request. Milliseconds.
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

/** What a shell expects of a process that a signal ended: 130 for Ctrl-C, 143 for SIGTERM. */
export const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];
