import { expect, test } from "vitest";
import type { FunctionSample, LiveSample } from "../../../../api/bus.ts";
import {
  eventSeries,
  extent,
  functionSeries,
  others,
  recent,
  spanSeconds,
  total,
  withSample,
} from "./series.ts";

const start = 1_800_000_000;
const spread = (p50: number) => ({ p50, p99: 2 * p50 });
const did = (reconciles: number, p50 = 1): FunctionSample => ({
  reconciles,
  errors: 0,
  waited: spread(p50),
  took: spread(p50),
  total: spread(p50),
});
const second = (
  after: number,
  events: Record<string, number>,
  functions: Record<string, FunctionSample> = {},
): LiveSample => ({
  at: start + after,
  events,
  functions,
});

test("a new sample drops old ones and replaces one of the same second", () => {
  const past = [second(0, { A: 1 }), second(1, { A: 2 }), second(spanSeconds - 1, { A: 3 })];
  const next = withSample(past, second(spanSeconds, { A: 4 }));
  expect(next.map(({ at }) => at - start)).toEqual([1, spanSeconds - 1, spanSeconds]);
  expect(withSample(next, second(spanSeconds, { A: 5 })).at(-1)?.events).toEqual({ A: 5 });
  expect(withSample(next, second(spanSeconds, { A: 5 }))).toHaveLength(3);
});

test("a chart covers the 15 minutes up to the newest second, with gaps for missing samples", () => {
  const { times, lines } = eventSeries([second(0, { A: 10 }), second(1, {}), second(10, { A: 5 })], {
    stepSeconds: 5,
    most: 6,
  });
  expect(times).toHaveLength(spanSeconds / 5);
  expect(times.slice(-3)).toEqual([start, start + 5, start + 10]);
  expect(lines).toEqual([{ name: "A", values: [...Array(177).fill(null), 5, null, 5] }]);
});

test("steps keep their times as samples arrive", () => {
  const options = { stepSeconds: 5, most: 6 };
  const before = eventSeries([second(3, { A: 1 })], options);
  const after = eventSeries([second(3, { A: 1 }), second(4, { A: 1 })], options);
  expect(after.times).toEqual(before.times);
  expect(eventSeries([second(3, { A: 1 }), second(5, { A: 1 })], options).times.at(-1)).toBe(start + 5);
});

test("the last line sums the kinds without their own line", () => {
  const events = { Pod: 9, Node: 8, Secret: 2, Lease: 1 };
  const { lines } = eventSeries([second(0, events)], { stepSeconds: 5, most: 3 });
  expect(lines.map(({ name, values }) => [name, values.at(-1)])).toEqual([
    ["Node", 8],
    ["Pod", 9],
    [others, 3],
  ]);
  const all = eventSeries([second(0, events)], { stepSeconds: 5, most: 4 });
  expect(all.lines.map(({ name }) => name)).toEqual(["Lease", "Node", "Pod", "Secret"]);
});

test("an idle function has 0 reconciles and unknown latencies", () => {
  const samples = [second(0, {}, { web: did(4, 20) }), second(1, {})];
  const count = functionSeries(samples, "web", {
    pick: { reconciles: ({ reconciles }) => reconciles },
    stepSeconds: 15,
    absent: 0,
  });
  expect(count.lines[0]?.values.at(-1)).toBe(2);
  const took = functionSeries(samples, "web", {
    pick: { p50: ({ took: { p50 } }) => p50, p99: ({ took: { p99 } }) => p99 },
    stepSeconds: 15,
    absent: null,
  });
  expect(took.lines.map(({ values }) => values.at(-1))).toEqual([20, 40]);
  expect(extent(took)).toEqual([20, 40]);
  const idle = functionSeries(samples, "api", {
    pick: { p50: ({ took: { p50 } }) => p50 },
    stepSeconds: 15,
    absent: null,
  });
  expect(extent(idle)).toBeUndefined();
});

test("the current value is the mean of the last known seconds", () => {
  const samples = [second(0, { A: 100 }), second(7, { A: 4 }), second(10, { A: 2 })];
  const ofA = ({ events }: LiveSample) => events.A ?? 0;
  expect(recent(samples, 10, ofA)).toBe(3);
  expect(recent([], 10, ofA)).toBe(0);
  expect(total(samples, ofA)).toBe(106);
});
