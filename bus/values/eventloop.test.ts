import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { atTurnEnd, gathering, sharedInterval, soon, untilShared } from "./eventloop.ts";

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

test("sharedInterval - calls back all callers with one timer, until each stops", () => {
  vi.useFakeTimers();
  const every = sharedInterval(100);
  const runs: string[] = [];
  const stopOne = every(() => runs.push("one"));
  vi.advanceTimersByTime(50);
  const stopOther = every(() => runs.push("other"));
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(100);
  expect(runs).toEqual(["one", "other"]);
  stopOne();
  stopOne();
  vi.advanceTimersByTime(100);
  expect(runs).toEqual(["one", "other", "other"]);
  stopOther();
  expect(vi.getTimerCount()).toBe(0);
});

test("untilShared - ends at the same time for all, also after a timer that fires early", () => {
  vi.useFakeTimers();
  vi.advanceTimersByTime(1000 - (performance.now() % 1000));
  expect(untilShared(1000)).toBe(1000);
  vi.advanceTimersByTime(300);
  expect(untilShared(1000)).toBe(700);
  vi.advanceTimersByTime(690);
  expect(untilShared(1000)).toBe(1010);
});

describe("gathering", () => {
  /** Lets callers in, and records who has continued. */
  function gather(most = 10) {
    const { urgent, patient } = gathering(10, most);
    const continued: string[] = [];
    const enter = async (name: string, when: Promise<void> | undefined) => {
      await when;
      continued.push(name);
    };
    return {
      continued,
      urgent: (name: string) => void enter(name, urgent()),
      patient: (name: string) => void enter(name, patient()),
    };
  }
  beforeEach(() => void vi.useFakeTimers());

  test("after a rest, a patient caller continues at once", async () => {
    const { continued, patient } = gather();
    patient("first");
    await vi.advanceTimersByTimeAsync(0);
    expect(continued).toEqual(["first"]);
    await vi.advanceTimersByTimeAsync(10);
    patient("second");
    await vi.advanceTimersByTimeAsync(0);
    expect(continued).toEqual(["first", "second"]);
  });

  test("soon after another caller, patient ones wait and continue together", async () => {
    const { continued, patient } = gather();
    patient("first");
    await vi.advanceTimersByTimeAsync(4);
    patient("second");
    await vi.advanceTimersByTimeAsync(5);
    patient("third");
    expect(continued).toEqual(["first"]);
    await vi.advanceTimersByTimeAsync(1);
    expect(continued).toEqual(["first", "second", "third"]);
  });

  test("an urgent caller continues at once, and those that wait with it", async () => {
    const { continued, urgent, patient } = gather();
    patient("first");
    await vi.advanceTimersByTimeAsync(4);
    patient("second");
    urgent("third");
    await vi.advanceTimersByTimeAsync(0);
    expect(continued.sort()).toEqual(["first", "second", "third"]);
  });

  test("when enough wait, all continue", async () => {
    const { continued, patient } = gather(2);
    patient("first");
    await vi.advanceTimersByTimeAsync(4);
    patient("second");
    patient("third");
    await vi.advanceTimersByTimeAsync(0);
    expect(continued.sort()).toEqual(["first", "second", "third"]);
  });
});
