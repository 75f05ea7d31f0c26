/**
 * Limits how long routing or relaying a message may try to publish. The consumer redelivers an unanswered message, so a longer
 * attempt would only occupy a slot. Messages that cannot be routed would eventually take all slots and block the others.
 */
import type { Delivery } from "../nats/delivery.ts";

/** A message was not handled until shortly before its consumer would redeliver it. */
export class HeldTooLongError extends Error {
  override readonly name = "HeldTooLongError";
}

/** The share of AckWait after which a message is handed back, before the consumer redelivers it. */
const share = 0.8;

/** The redelivery delay of a message that was held too long, doubled each time. Others proceed meanwhile. Milliseconds. */
const pause = { firstMillis: 2000, longestMillis: 60_000 };

/** Hands back a message that was held too long, with a delay. */
export function handBackLater(delivery: Pick<Delivery, "deliveries" | "handBack">): void {
  const { firstMillis, longestMillis } = pause;
  delivery.handBack(Math.min(longestMillis, firstMillis * 2 ** Math.min(delivery.deliveries - 1, 8)));
}

/** The publish deadline of one delivered message. */
export interface PublishDeadline {
  /**
   * Runs `publish` with a signal that aborts shortly before AckWait ends, with a {@link HeldTooLongError}, or when the process
   * stops. A message that was already held for some time is extended first.
   */
  attempt<T>(publish: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/** How long a message may be held, and the signal that ends it earlier. */
export interface PublishDeadlineOptions {
  /** The AckWait of the consumer. */
  readonly ackWaitMillis: number;
  readonly signal: AbortSignal;
}

/** Starts the deadline of a delivery that has just arrived. */
export function publishDeadline(
  delivery: Pick<Delivery, "extend">,
  { ackWaitMillis, signal }: PublishDeadlineOptions,
): PublishDeadline {
  const millis = share * ackWaitMillis;
  let since = performance.now();
  return {
    async attempt(publish) {
      if (performance.now() - since > millis / 4) {
        await delivery.extend();
        since = performance.now();
      }
      const ending = new AbortController();
      const stop = () => ending.abort(signal.reason);
      const timer = setTimeout(
        () =>
          ending.abort(
            new HeldTooLongError(`not published within ${millis} ms; the bus redelivers the message`),
          ),
        Math.max(0, millis - (performance.now() - since)),
      );
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      try {
        return await publish(ending.signal);
      } catch (error) {
        // The reason of the abort says more than the error it causes.
        throw ending.signal.aborted ? ending.signal.reason : error;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
      }
    },
  };
}
