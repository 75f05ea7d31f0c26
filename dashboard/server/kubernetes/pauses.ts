/** Exponential backoff for requests to the API server. */
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds. */
const first = 500;
const longest = 8000;

/** The backoff of one loop. */
export interface Pauses {
  /** Resolves after the current delay, or when the signal aborts. Doubles the next delay. */
  pause(): Promise<void>;
  /** Call after a success: resets the delay. */
  reset(): void;
}

/** Creates a backoff that the signal ends. */
export function pauses(signal: AbortSignal): Pauses {
  let next = first;
  return {
    async pause() {
      const millis = next;
      next = Math.min(2 * next, longest);
      await sleep(millis, undefined, { signal }).catch(() => undefined);
    },
    reset() {
      next = first;
    },
  };
}
