import { expect, test } from "vitest";
import { FunctionCounter, keptSeconds } from "./functionseries.ts";

const start = 1_800_000_000;
const done = (tookMillis: number) =>
  ({ outcome: "success", waitedMillis: 2 * tookMillis, tookMillis }) as const;
const lengths = (pending: number) => ({ events: 0, pending, inFlight: 1, deadLetters: undefined });

/** Advances the counter once a second, as the process does. */
function run(counter: FunctionCounter, from: number, to: number): void {
  for (let now = from; now <= to; now++) counter.advance(now);
}

test("counts reconciles, retries, and latencies by steps of ten seconds", () => {
  const counter = new FunctionCounter(start);
  run(counter, start, start + 10);
  for (const took of [10, 20, 1000]) counter.reconciled(start + 11, done(took));
  counter.reconciled(start + 12, { outcome: "retry", waitedMillis: 0, tookMillis: 10 });
  counter.reconciled(start + 13, { outcome: "dead_lettered", waitedMillis: 0, tookMillis: 10 });
  run(counter, start + 14, start + 30);
  const { columns, ...rest } = counter.read(start + 35, { from: start, to: start + 35 });
  expect(rest).toEqual({
    ...{ now: start + 35, since: start, from: start, to: start + 35, stepSeconds: 10 },
    times: [start, start + 10, start + 20],
  });
  // The process may have missed a part of its first step.
  expect(columns.reconciles).toEqual([null, 5, 0]);
  expect(columns.retries).toEqual([null, 1, 0]);
  expect(columns.tookP50).toEqual([null, 10, null]);
  for (const column of [columns.tookP95, columns.tookP99])
    expect(Math.abs((column[1] ?? 0) - 1000)).toBeLessThan(50);
  expect(Math.abs((columns.waitedP50[1] ?? 0) - 20)).toBeLessThanOrEqual(2);
});

test("keeps the highest queue length of a step, and null for one that is unknown", () => {
  const counter = new FunctionCounter(start);
  run(counter, start, start + 10);
  for (const pending of [3, 7, 5]) counter.queueRead(start + 11, lengths(pending));
  run(counter, start + 12, start + 30);
  const { columns } = counter.read(start + 30, { from: start + 10, to: start + 30 });
  expect(columns.pending).toEqual([7, null]);
  expect(columns.events).toEqual([0, null]);
  expect(columns.deadLetters).toEqual([null, null]);
});

test("knows nothing of steps in which the process was suspended", () => {
  const counter = new FunctionCounter(start);
  run(counter, start, start + 20);
  run(counter, start + 50, start + 70);
  const { columns } = counter.read(start + 70, { from: start, to: start + 70 });
  expect(columns.reconciles).toEqual([null, 0, 0, null, null, 0, 0]);
});

test("keeps an hour in steps of ten seconds and a day in steps of two minutes", { timeout: 60_000 }, () => {
  const counter = new FunctionCounter(start);
  const { bytes } = counter;
  const days = start + 2 * keptSeconds;
  for (let now = start; now <= days; now++) {
    if (now % 60 === 0) counter.reconciled(now, done(5));
    counter.advance(now);
  }
  const readLast = (seconds: number) => counter.read(days, { from: days - seconds, to: days });
  expect(readLast(3600)).toMatchObject({ stepSeconds: 10, since: days - keptSeconds });
  const sum = (seconds: number) =>
    readLast(seconds).columns.reconciles.reduce<number>((total, value) => total + (value ?? Number.NaN), 0);
  expect([sum(3600), sum(3601)]).toEqual([60, 60]);
  expect(readLast(3601).stepSeconds).toBe(120);
  expect([readLast(keptSeconds).times.length, sum(keptSeconds)]).toEqual([720, 1440]);
  // Less than a part of the day, in the past.
  const early = counter.read(days, { from: days - 7200, to: days - 3600 });
  expect([early.stepSeconds, early.times.length]).toEqual([120, 30]);
  expect(counter.read(days, { from: start, to: start + 60 }).times).toEqual([]);
  expect([bytes, counter.bytes]).toEqual([60_480, 60_480]);
});

test("a process that started recently has only short steps", () => {
  const counter = new FunctionCounter(start);
  run(counter, start, start + 60);
  expect(counter.read(start + 60, { from: start + 60 - keptSeconds, to: start + 60 })).toMatchObject({
    ...{ since: start, stepSeconds: 10, from: start + 60 - keptSeconds },
    times: [0, 10, 20, 30, 40, 50].map((after) => start + after),
  });
});
