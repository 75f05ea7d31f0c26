import { expect, test } from "vitest";
import { poll } from "./poll.ts";

/** Holds up this process, as a busy machine does. */
function block(millis: number): void {
  const until = performance.now() + millis;
  while (performance.now() < until);
}

test("what became ready while the process stood still is found, although the time is over", async () => {
  let isReady = false;
  const probe = async () => {
    if (isReady) return "ready";
    block(30);
    isReady = true;
    throw new Error("not yet");
  };
  expect(await poll("it", probe, { timeoutMillis: 10, intervalMillis: 1 })).toBe("ready");
});

test("the error names what was waited for, how long, and what was found at last", async () => {
  let looks = 0;
  const probe = () => Promise.reject(new Error(`look ${++looks}`));
  await expect(poll("the server to greet", probe, { timeoutMillis: 0 })).rejects.toThrow(
    "expected the server to greet within 0 s, but at last look 1",
  );
});

test("a signal ends the wait with its reason", async () => {
  const probe = () => Promise.reject(new Error("not yet"));
  const signal = AbortSignal.abort(new Error("the run is over"));
  await expect(poll("it", probe, { timeoutMillis: 60_000, signal })).rejects.toThrow("the run is over");
});
