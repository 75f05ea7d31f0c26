/**
 * How long routing or relaying a message may try to publish. Its consumer delivers an unanswered message again, so a longer attempt would
 * only occupy a slot. Messages that cannot be routed would take all slots in the end, and the others would wait.
 */
import type { Delivery } from "../nats/delivery.ts";

/** A message was held until shortly before its consumer would deliver it again. */
export class HeldTooLongError extends Error {
  override readonly name = "HeldTooLongError";
}

/** The share of an AckWait after which a message is handed back, before the consumer delivers it again by itself. */
const share = 0.8;

/** How long a message waits that was held too long, doubled each time: others are tried meanwhile. Milliseconds. */
const pause = { firstMillis: 2000, longestMillis: 60_000 };

/** Hands back what was held too long. */
export function handBackLater(delivery: Pick<Delivery, "deliveries" | "handBack">): void {
  const { firstMillis, longestMillis } = pause;
  delivery.handBack(Math.min(longestMillis, firstMillis * 2 ** Math.min(delivery.deliveries - 1, 8)));
}

/** A message in the hands of its handler. */
export interface PublishDeadline {
  /**
   * Runs what publishes. The signal that it gets aborts shortly before the AckWait is over, with a {@link HeldTooLongError}, or with
   * the reason of whatever ends the process. A message that was held for some time before is extended first.
   */
  attempt<T>(publish: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/** How long a message may be held, and what ends that before. */
export interface PublishDeadlineOptions {
  /** The AckWait of the consumer. */
  readonly ackWaitMillis: number;
  readonly signal: AbortSignal;
}

/** Begins to hold a delivery that has just arrived. */
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
      const over = new AbortController();
      const stop = () => over.abort(signal.reason);
      const timer = setTimeout(
        () => over.abort(new HeldTooLongError(`not done within ${millis} ms; the bus delivers it again`)),
        Math.max(0, millis - (performance.now() - since)),
      );
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      try {
        return await publish(over.signal);
      } catch (error) {
        // The reason of the abort says more than the error that it causes.
        throw over.signal.aborted ? over.signal.reason : error;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
      }
    },
  };
}
