/** Exponential backoff for requests to the API server. */
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds. */
const first = 500;
const longest = 8000;

/** The backoff of one loop. */
export interface Backoff {
  /** Resolves after the current delay, or when the signal aborts. Doubles the next delay. */
  wait(): Promise<void>;
  /** Call after a success: resets the delay. */
  reset(): void;
}

/** Creates a backoff that the signal ends. */
export function backoff(signal: AbortSignal): Backoff {
  let next = first;
  return {
    async wait() {
      const millis = next;
      next = Math.min(2 * next, longest);
      await sleep(millis, undefined, { signal }).catch(() => undefined);
    },
    reset() {
      next = first;
    },
  };
}
