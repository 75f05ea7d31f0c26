import { expect, test } from "vitest";
import { poll } from "./poll.ts";

/** Blocks this process, like a busy machine. */
function block(millis: number): void {
  const until = performance.now() + millis;
  while (performance.now() < until);
}

test("calls the probe once more after the deadline, in case the process was blocked", async () => {
  let isReady = false;
  const probe = async () => {
    if (isReady) return "ready";
    block(30);
    isReady = true;
    throw new Error("not yet");
  };
  expect(await poll("it", probe, { timeoutMillis: 10, intervalMillis: 1 })).toBe("ready");
});

test("the error has the condition, the timeout, and the last failure", async () => {
  let calls = 0;
  const probe = () => Promise.reject(new Error(`look ${++calls}`));
  await expect(poll("the server to greet", probe, { timeoutMillis: 0 })).rejects.toThrow(
    "timed out after 0 s waiting for the server to greet: look 1",
  );
});

test("an abort ends the wait with the signal's reason", async () => {
  const probe = () => Promise.reject(new Error("not yet"));
  const signal = AbortSignal.abort(new Error("the run is over"));
  await expect(poll("it", probe, { timeoutMillis: 60_000, signal })).rejects.toThrow("the run is over");
});

test("excuses time that does not count, at most nine times the limit", async () => {
  const begun = performance.now();
  const options = { timeoutMillis: 5, intervalMillis: 1, excusedMillis: () => 60_000 };
  await expect(poll("it", () => Promise.reject(new Error("not yet")), options)).rejects.toThrow("timed out");
  expect(performance.now() - begun).toBeGreaterThanOrEqual(50);
});
