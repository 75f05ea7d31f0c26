/** Pauses before the API server is asked again: each is twice as long as the one before. */
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds. */
const first = 500;
const longest = 8000;

/** Pauses of one who asks. */
export interface Pauses {
  /** Resolves when the pause is over, or nobody waits any more. */
  pause(): Promise<void>;
  /** It went well: the next pause is a short one. */
  reset(): void;
}

/** Pauses that end when the signal aborts. */
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
