/**
 * How long routing or relaying a message may take. Its consumer delivers an unanswered message again, so a longer attempt would
 * only occupy a slot. Messages that cannot be routed would take all slots in the end, and the others would wait.
 */
import type { Delivery } from "./delivery.ts";

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
export interface Held {
  /** Restarts the AckWait. Rejects like {@link Delivery.extend}. */
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
    // The reason of the abort says more than the error that it causes.
    throw over.signal.aborted ? over.signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}
