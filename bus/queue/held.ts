/**
 * How long whoever routes or relays a message may try. A consumer gives a message that is not answered to somebody else, so trying for
 * longer only takes a slot: what can not be done would by and by take all of them, and what can be done would wait.
 */
import type { Delivery } from "./delivery.ts";

/** A message was held until shortly before its consumer gives it to somebody else. */
export class HeldTooLongError extends Error {
  override readonly name = "HeldTooLongError";
}

/** The share of an AckWait, so that the message is handed back before the consumer gives it to somebody else. */
const share = 0.8;

/** How long a message waits that was held too long, doubled each time: others are tried meanwhile. Milliseconds. */
const pause = { firstMillis: 2000, longestMillis: 60_000 };

/** Hands back what was held too long. */
export function handBackLater(delivery: Pick<Delivery, "deliveries" | "handBack">): void {
  const { firstMillis, longestMillis } = pause;
  delivery.handBack(Math.min(longestMillis, firstMillis * 2 ** Math.min(delivery.deliveries - 1, 8)));
}

/** What whoever handles a message has of it. */
export interface Held {
  /** Starts the AckWait anew. Rejects like {@link Delivery.extend}. */
  extend(): Promise<void>;
  /** Aborts when the time is over, with a {@link HeldTooLongError}, or with the reason of what ends the whole process. */
  readonly signal: AbortSignal;
}

/** How long a message may be held, and what ends that before. */
export interface HoldingOptions {
  /** The AckWait of the consumer. */
  readonly ackWaitMillis: number;
  readonly signal: AbortSignal;
}

/** Runs `handle` while a delivery may be held. */
export async function whileHeld<T>(
  delivery: Pick<Delivery, "extend">,
  { ackWaitMillis, signal }: HoldingOptions,
  handle: (held: Held) => Promise<T>,
): Promise<T> {
  const millis = share * ackWaitMillis;
  const over = new AbortController();
  const stop = () => over.abort(signal.reason);
  const timer = setTimeout(() => {
    over.abort(new HeldTooLongError(`not done within ${millis} ms; the bus delivers it again`));
  }, millis);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const extend = async () => {
    await delivery.extend();
    timer.refresh();
  };
  try {
    return await handle({ extend, signal: over.signal });
  } catch (error) {
    // What fails because it was aborted fails for the abort's reason.
    throw over.signal.aborted ? over.signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}
