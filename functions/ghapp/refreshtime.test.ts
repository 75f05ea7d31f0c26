import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { minutes } from "../../bus/values/durations.ts";
import { refreshTime } from "./refreshtime.ts";

const seconds = (n: number): number => n * 1000;
const hours = (n: number): number => n * 3_600_000;

const issued = Date.parse("2026-11-20T18:30:00Z");
/** Random values: both extremes, and the middle. */
const chances = [0, 0.25, 0.5, 0.75, 1 - Number.EPSILON];

/** Time from the issue of a token to its refresh. */
const after = (life: number, before: number, chance = 0.5): number =>
  refreshTime({ issued, expires: issued + life }, before, () => chance) - issued;

test("refreshes a token of an hour about ten minutes before its end", () => {
  for (const chance of chances) {
    expect(after(hours(1), minutes(10), chance)).toBeGreaterThanOrEqual(minutes(50) - seconds(30));
    expect(after(hours(1), minutes(10), chance)).toBeLessThanOrEqual(minutes(50));
  }
});

test.each([
  [minutes(15), minutes(45)],
  [minutes(30), minutes(30)],
  [seconds(1234), hours(1) - seconds(1234)],
])("refreshes a token %i ms before its end, or at most half a minute earlier", (before, expected) => {
  for (const chance of chances) {
    expect(after(hours(1), before, chance)).toBeLessThanOrEqual(expected);
    expect(after(hours(1), before, chance)).toBeGreaterThanOrEqual(expected - seconds(30));
  }
});

test("uses a token of an hour for at least twenty minutes", () => {
  for (const before of [seconds(2400), seconds(2410), seconds(3000), hours(1), hours(2)])
    for (const chance of chances) {
      expect(after(hours(1), before, chance)).toBeGreaterThanOrEqual(minutes(20));
      expect(after(hours(1), before, chance)).toBeLessThanOrEqual(minutes(20) + seconds(30));
    }
});

test("leaves at least a sixth of the lifetime", () => {
  for (const life of [minutes(6), hours(1), hours(6)])
    for (const chance of chances) expect(after(life, 0, chance)).toBeLessThanOrEqual((life * 5) / 6);
});

test("spreads refreshes of simultaneous tokens by at most half a minute", () => {
  for (const before of [minutes(10), seconds(3000), 0]) {
    const times = chances.map((chance) => after(hours(1), before, chance));
    expect(new Set(times).size).toBe(chances.length);
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(seconds(29));
    expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(seconds(30));
  }
});

test("limits the spread for a lifetime of a few seconds", () => {
  const life = seconds(12);
  const times = chances.map((chance) => after(life, minutes(10), chance));
  expect(new Set(times).size).toBe(chances.length);
  expect(Math.max(...times)).toBe(seconds(10));
  expect(Math.min(...times)).toBeGreaterThanOrEqual(seconds(9.8));
});

describe("for any lifetime", () => {
  const life = fc.integer({ min: seconds(10), max: hours(24) });
  const before = fc.integer({ min: 0, max: seconds(3000) });
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const start = fc.integer({ min: 0, max: issued });

  test("refreshes a token after its issue, and before the last sixth of its lifetime", () => {
    fc.assert(
      fc.property(start, life, before, chance, (issued, life, before, chance) => {
        const expires = issued + life;
        const refresh = refreshTime({ issued, expires }, before, () => chance);
        expect(Number.isInteger(refresh)).toBe(true);
        expect(refresh).toBeGreaterThan(issued);
        expect(refresh).toBeLessThanOrEqual(issued + (life * 5) / 6);
        expect(refresh).toBeLessThan(expires);
      }),
      { numRuns: 2000 },
    );
  });

  test("uses a token of more than twenty-five minutes for twenty minutes", () => {
    const longer = fc.integer({ min: minutes(25), max: hours(24) });
    fc.assert(
      fc.property(longer, before, chance, (life, before, chance) => {
        expect(after(life, before, chance)).toBeGreaterThanOrEqual(minutes(20));
      }),
      { numRuns: 2000 },
    );
  });

  test("refreshes earlier for a longer margin", () => {
    fc.assert(
      fc.property(life, before, before, chance, (life, one, other, chance) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)];
        expect(after(life, more, chance)).toBeLessThanOrEqual(after(life, less, chance));
      }),
    );
  });
});

test("refreshes an expired token at once", () => {
  expect(refreshTime({ issued, expires: issued - seconds(5) }, minutes(10))).toBe(issued);
});
