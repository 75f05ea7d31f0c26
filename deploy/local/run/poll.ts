/** Waiting for something outside this process that tells nobody when it is done. */
import { setTimeout as sleep } from "node:timers/promises";

/** How long to wait and how often to look. */
export interface PollOptions {
  /** Give up after this many milliseconds. */
  readonly timeoutMillis: number;
  /** Pause between two looks, in milliseconds; 25 unless given. */
  readonly intervalMillis?: number | undefined;
  /** Ends the wait with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls `probe` until it resolves. A probe that throws is asked again, for the last time when the time is over: what was
 * found before this process or the machine stood still says nothing about now. That last error is the cause of the one
 * thrown.
 */
export async function poll<T>(what: string, probe: () => Promise<T>, options: PollOptions): Promise<T> {
  const deadline = performance.now() + options.timeoutMillis;
  for (;;) {
    options.signal?.throwIfAborted();
    const isLast = performance.now() >= deadline;
    try {
      return await probe();
    } catch (error) {
      options.signal?.throwIfAborted();
      if (isLast) {
        throw new Error(
          `expected ${what} within ${options.timeoutMillis / 1000} s, but at last ${describe(error)}`,
          {
            cause: error,
          },
        );
      }
    }
    // An abort only ends the pause; the loop's first line then throws the signal's own reason.
    await sleep(options.intervalMillis ?? 25, undefined, { signal: options.signal }).catch(() => undefined);
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError) return error.errors.map(describe).join("; ");
  return error.message === "" ? error.name : error.message;
}
