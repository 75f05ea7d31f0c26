/** Calls to the API server that are under way, by the signal that they were made with; and retries of those that are throttled. */
import { setTimeout as sleep } from "node:timers/promises";
import { apiServerUnavailable, blockerOf } from "./blocker.ts";
import { ApiError, ApiUnansweredError } from "./errors.ts";

/** A call under way. */
interface PendingCall {
  /** Method and path. */
  readonly name: string;
  /** By `performance.now()`. */
  readonly since: number;
  /** The last answer that asked for a retry. */
  throttled?: ApiError;
}

const pending = new WeakMap<AbortSignal, Set<PendingCall>>();

/** Nothing was executed, so any call may be sent again. A webhook that denies with a 429 has judged, and a reconcile need not wait for it. */
const isThrottled = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 429 && blockerOf(error)?.reason === apiServerUnavailable;

const maxThrottledRetries = 5;
/**
 * How long all retries of a call may wait. Priority and fairness asks for up to 32 s, in which a reconcile would hold its slot and
 * use up its time limit.
 */
const maxThrottledMillis = 5_000;

/**
 * Sends a request until it is not answered 429, and returns what `send` does. Throws the last 429 where the API server asks for more
 * patience than that.
 */
export async function retryThrottled<T>(
  signal: AbortSignal | undefined,
  name: string,
  send: () => Promise<T>,
): Promise<T> {
  const call: PendingCall = { name, since: performance.now() };
  const calls = (signal && pending.get(signal)) ?? new Set();
  if (signal) pending.set(signal, calls.add(call));
  try {
    let waitedMillis = 0;
    for (let retry = 0; ; retry++) {
      try {
        return await send();
      } catch (error) {
        if (!isThrottled(error)) throw error;
        const pauseMillis = error.retryAfterMillis ?? 100 * 2 ** retry;
        waitedMillis += pauseMillis;
        if (retry >= maxThrottledRetries || waitedMillis > maxThrottledMillis) throw error;
        call.throttled = error;
        await sleep(pauseMillis, undefined, { signal });
      }
    }
  } finally {
    calls.delete(call);
  }
}

/**
 * Why a call of this signal has not come to its end: the API server asked it to wait, or has not answered for `lateMillis`.
 * Undefined when there is no such call.
 */
export function delayOf(signal: AbortSignal, lateMillis: number): Error | undefined {
  const calls = [...(pending.get(signal) ?? [])];
  const throttled = calls.find((call) => call.throttled)?.throttled;
  if (throttled !== undefined) return throttled;
  const now = performance.now();
  const late = calls.find(({ since }) => now - since >= lateMillis);
  // Without a duration: a condition that quotes it must not change each time.
  return late && new ApiUnansweredError(`${late.name} was not answered in time`);
}
