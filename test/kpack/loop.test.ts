import { describe, expect, test } from "vitest";
import { startLoop } from "../../deploy/simulators/kpack/loop.ts";

/** A loop whose reconciles wait for `release`. */
function heldLoop(outcome: (pass: number) => Error | undefined = () => undefined) {
  const stopping = new AbortController();
  const begun: string[] = [];
  const failures: string[] = [];
  const releases: (() => void)[] = [];
  const waiting = new Set<() => void>();
  const loop = startLoop(
    "Thing",
    async (key) => {
      begun.push(key);
      for (const notify of waiting) notify();
      await new Promise<void>((resolve) => releases.push(resolve));
      const error = outcome(begun.length);
      if (error) throw error;
    },
    { signal: stopping.signal, logFailure: (what) => failures.push(what) },
  );
  const untilBegun = (count: number) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (begun.length < count) return;
        waiting.delete(check);
        // After the reconcile has stored its release function.
        setImmediate(resolve);
      };
      waiting.add(check);
      check();
    });
  return { loop, begun, failures, stopping, untilBegun, release: () => releases.shift()?.() };
}

describe("a loop", () => {
  test("runs one reconcile per key at a time, and one more for all keys added during it", async () => {
    const { loop, begun, untilBegun, release } = heldLoop();
    for (const _ of [1, 2, 3]) loop.add("a");
    await untilBegun(1);
    loop.add("a");
    loop.add("a");
    loop.add("b");
    await untilBegun(2);
    expect(begun).toEqual(["a", "b"]);
    release();
    await untilBegun(3);
    expect(begun).toEqual(["a", "b", "a"]);
    release();
    release();
    await loop.idle("a");
    await loop.idle("b");
    expect(begun).toHaveLength(3);
  });

  test("is idle when all reconciles of the key have ended, also those added during them", async () => {
    const { loop, begun, untilBegun, release } = heldLoop();
    await loop.idle("a");
    loop.add("a");
    await untilBegun(1);
    loop.add("a");
    const idle = loop.idle("a").then(() => begun.length);
    release();
    await untilBegun(2);
    release();
    expect(await idle).toBe(2);
  });

  test("retries failures, and is idle in between", async () => {
    const { loop, failures, untilBegun, release } = heldLoop((pass) =>
      pass < 3 ? new Error("no") : undefined,
    );
    loop.add("a");
    for (const pass of [1, 2, 3]) {
      await untilBegun(pass);
      release();
      await loop.idle("a");
    }
    expect(failures).toEqual(["Thing a", "Thing a"]);
  });

  test("stops after the abort", async () => {
    const { loop, begun, stopping, untilBegun, release } = heldLoop();
    loop.add("a");
    await untilBegun(1);
    loop.add("a");
    stopping.abort();
    loop.add("b");
    release();
    await loop.ended();
    expect(begun).toEqual(["a"]);
  });
});
