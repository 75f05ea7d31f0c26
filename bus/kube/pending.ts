/** Pending calls to the API server by their signal, and retries of throttled calls. */
import { setTimeout as sleep } from "node:timers/promises";
import { apiServerUnavailable, blockerOf } from "./blocker.ts";
import { ApiError, ApiUnansweredError } from "./errors.ts";

/** A pending call. */
interface PendingCall {
  /** Method and path. */
  readonly name: string;
  /** By `performance.now()`. */
  readonly since: number;
  /** The last answer that asked for a retry. */
  throttled?: ApiError;
}

const pending = new WeakMap<AbortSignal, Set<PendingCall>>();

/** A throttled call was not executed, so any call may be retried. A webhook that denies with a 429 has decided, and a reconcile need not wait for it. */
const isThrottled = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 429 && blockerOf(error)?.reason === apiServerUnavailable;

const maxThrottledRetries = 5;
/**
 * Maximum total wait for retries of a call. Priority and fairness asks for up to 32 s, in which a reconcile would hold its slot
 * and use up its time limit.
 */
const maxThrottledMillis = 5_000;

/**
 * Sends a request, and retries it while the answer is 429. Returns the result of `send`. Throws the last 429 if the API server
 * asks for a longer wait than that.
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
 * Why a call with this signal has not finished: the API server asked for a wait, or has not answered for `lateMillis`.
 * Undefined without such a call.
 */
export function delayOf(signal: AbortSignal, lateMillis: number): Error | undefined {
  const calls = [...(pending.get(signal) ?? [])];
  const throttled = calls.find((call) => call.throttled)?.throttled;
  if (throttled !== undefined) return throttled;
  const now = performance.now();
  const late = calls.find(({ since }) => now - since >= lateMillis);
  // Without a duration: the text of a condition that quotes it must stay the same.
  return late && new ApiUnansweredError(`${late.name} was not answered in time`);
}
