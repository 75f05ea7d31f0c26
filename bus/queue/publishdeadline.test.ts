import { afterEach, expect, test, vi } from "vitest";
import { HeldTooLongError, handBackLater, publishDeadline } from "./publishdeadline.ts";

afterEach(() => void vi.useRealTimers());

const ackWaitMillis = 1000;

/** The deadline of a delivery that counts its extensions. */
function startDeadline(signal = new AbortController().signal) {
  vi.useFakeTimers();
  let extended = 0;
  const extend = async () => void extended++;
  return { deadline: publishDeadline({ extend }, { ackWaitMillis, signal }), extended: () => extended };
}

const forever = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) =>
    signal.addEventListener("abort", () => reject(new Error("aborted"))),
  );

test("an attempt that does not end is aborted before the consumer redelivers the message", async () => {
  const { deadline } = startDeadline();
  const attempt = expect(deadline.attempt(forever)).rejects.toThrow(HeldTooLongError);
  await vi.advanceTimersByTimeAsync(0.9 * ackWaitMillis);
  await attempt;
});

test("a message that was held for a while is extended, and then has its full time", async () => {
  const { deadline, extended } = startDeadline();
  await vi.advanceTimersByTimeAsync(10 * ackWaitMillis);
  for (let batch = 0; batch < 20; batch++) {
    await deadline.attempt(async (signal) => {
      vi.advanceTimersByTime(0.15 * ackWaitMillis);
      signal.throwIfAborted();
    });
  }
  expect(extended()).toBeGreaterThan(5);
  expect(extended()).toBeLessThan(20);
});

test("a message that is published at once is not extended", async () => {
  const { deadline, extended } = startDeadline();
  expect(await deadline.attempt(async () => "routed")).toBe("routed");
  expect(extended()).toBe(0);
});

test("rejects with the reason of the stop signal, and keeps other errors", async () => {
  const stopping = new AbortController();
  const { deadline } = startDeadline(stopping.signal);
  await expect(deadline.attempt(() => Promise.reject(new RangeError("own")))).rejects.toThrow("own");
  const attempt = expect(deadline.attempt(forever)).rejects.toThrow("stopping");
  stopping.abort(new Error("stopping"));
  await attempt;
});

test("hands back with a delay that doubles with each delivery, up to a minute", () => {
  const waits: (number | undefined)[] = [];
  for (const deliveries of [1, 2, 3, 6, 100])
    handBackLater({ deliveries, handBack: (millis) => void waits.push(millis) });
  expect(waits).toEqual([2000, 4000, 8000, 60_000, 60_000]);
});
