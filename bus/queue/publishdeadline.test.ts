import { afterEach, expect, test, vi } from "vitest";
import { HeldTooLongError, handBackLater, publishDeadline } from "./publishdeadline.ts";

afterEach(() => void vi.useRealTimers());

const ackWaitMillis = 1000;

/** A delivery that counts how often it was extended, and a holder of it. */
function holding(signal = new AbortController().signal) {
  vi.useFakeTimers();
  let extended = 0;
  const extend = async () => void extended++;
  return { holder: publishDeadline({ extend }, { ackWaitMillis, signal }), extended: () => extended };
}

const forever = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) =>
    signal.addEventListener("abort", () => reject(new Error("aborted"))),
  );

test("held - an attempt that does not end is given up before the consumer delivers the message again", async () => {
  const { holder } = holding();
  const attempt = expect(holder.attempt(forever)).rejects.toThrow(HeldTooLongError);
  await vi.advanceTimersByTimeAsync(0.9 * ackWaitMillis);
  await attempt;
});

test("held - a message is extended after a long search, and then has its whole time", async () => {
  const { holder, extended } = holding();
  await vi.advanceTimersByTimeAsync(10 * ackWaitMillis);
  for (let batch = 0; batch < 20; batch++) {
    await holder.attempt(async (signal) => {
      vi.advanceTimersByTime(0.15 * ackWaitMillis);
      signal.throwIfAborted();
    });
  }
  expect(extended()).toBeGreaterThan(5);
  expect(extended()).toBeLessThan(20);
});

test("held - one that is routed at once is not extended", async () => {
  const { holder, extended } = holding();
  expect(await holder.attempt(async () => "routed")).toBe("routed");
  expect(extended()).toBe(0);
});

test("held - the end of the process is the reason, and an error of its own stays", async () => {
  const stopping = new AbortController();
  const { holder } = holding(stopping.signal);
  await expect(holder.attempt(() => Promise.reject(new RangeError("own")))).rejects.toThrow("own");
  const attempt = expect(holder.attempt(forever)).rejects.toThrow("stopping");
  stopping.abort(new Error("stopping"));
  await attempt;
});

test("held - what was held too long waits longer each time, and for a minute at most", () => {
  const waits: (number | undefined)[] = [];
  for (const deliveries of [1, 2, 3, 6, 100])
    handBackLater({ deliveries, handBack: (millis) => void waits.push(millis) });
  expect(waits).toEqual([2000, 4000, 8000, 60_000, 60_000]);
});
