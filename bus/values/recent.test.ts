import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Recent } from "./recent.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("forgets an entry some time after it was last set", () => {
  const recent = new Recent<number>({ keptMillis: 100, limit: 10 });
  recent.set("a", 1);
  vi.advanceTimersByTime(60);
  recent.set("b", 2);
  recent.set("a", 3);
  vi.advanceTimersByTime(60);
  expect([...recent]).toEqual([
    ["b", 2],
    ["a", 3],
  ]);
  vi.advanceTimersByTime(40);
  expect(recent.get("a")).toBeUndefined();
  expect([...recent]).toEqual([]);
});

test("drops entries without a lookup", () => {
  const recent = new Recent<number>({ keptMillis: 100, limit: 10 });
  recent.set("a", 1);
  vi.advanceTimersByTime(99);
  recent.set("b", 2);
  expect(recent.size).toBe(2);
  vi.advanceTimersByTime(200);
  expect(recent.size).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test("drops the oldest entry at the limit", () => {
  const recent = new Recent<number>({ keptMillis: 100, limit: 2 });
  for (const key of ["a", "b", "a", "c"]) recent.set(key, 0);
  expect([...recent].map(([key]) => key)).toEqual(["a", "c"]);
});
