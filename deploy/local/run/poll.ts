/** Waits for conditions outside this process that have no notification. */
import { setTimeout as sleep } from "node:timers/promises";

/** How long and how often to poll. */
export interface PollOptions {
  /** Fail after this many milliseconds. */
  readonly timeoutMillis: number;
  /** How many of the milliseconds so far do not count. At most nine times the limit does not. */
  readonly excusedMillis?: (() => number) | undefined;
  /** Pause between two calls, in milliseconds. Default: 25. */
  readonly intervalMillis?: number | undefined;
  /** Ends the wait with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls `probe` until it resolves. It calls the probe once more after the deadline, because a result from before this process or
 * the machine was suspended may be outdated. When the last call fails too, its error is the cause of the thrown error.
 */
export async function poll<T>(what: string, probe: () => Promise<T>, options: PollOptions): Promise<T> {
  const { timeoutMillis, excusedMillis = () => 0 } = options;
  const begun = performance.now();
  const isOver = () => {
    const late = performance.now() - begun - timeoutMillis;
    return late >= 0 && late >= Math.min(excusedMillis(), 9 * timeoutMillis);
  };
  for (;;) {
    options.signal?.throwIfAborted();
    const isLast = isOver();
    try {
      return await probe();
    } catch (error) {
      options.signal?.throwIfAborted();
      if (isLast) {
        throw new Error(`timed out after ${timeoutMillis / 1000} s waiting for ${what}: ${describe(error)}`, {
          cause: error,
        });
      }
    }
    // An abort only ends the pause. The loop then throws the signal's reason.
    await sleep(options.intervalMillis ?? 25, undefined, { signal: options.signal }).catch(() => undefined);
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError) return error.errors.map(describe).join("; ");
  return error.message === "" ? error.name : error.message;
}
