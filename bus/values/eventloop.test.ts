import { setImmediate as turn } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { atTurnEnd, soon } from "./eventloop.ts";

afterEach(() => void vi.useRealTimers());

test("atTurnEnd - runs once per turn, and again if the run plans another", async () => {
  let runs = 0;
  const plan = atTurnEnd(() => {
    runs++;
    if (runs === 1) plan();
  });
  plan();
  plan();
  expect(runs).toBe(0);
  await turn();
  expect(runs).toBe(1);
  await turn();
  expect(runs).toBe(2);
  await turn();
  expect(runs).toBe(2);
});

test("soon - runs once for several plans, together with others, and again after that", async () => {
  vi.useFakeTimers();
  const runs: string[] = [];
  const one = soon(20, () => runs.push("one"));
  const other = soon(20, () => runs.push("other"));
  vi.advanceTimersByTime(7);
  one();
  one();
  vi.advanceTimersByTime(5);
  other();
  expect(runs).toEqual([]);
  vi.advanceTimersByTime(8);
  expect(runs).toEqual(["one", "other"]);
  one();
  vi.advanceTimersByTime(20);
  expect(runs).toEqual(["one", "other", "one"]);
});
