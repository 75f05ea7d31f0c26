import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refreshTime } from "./refresh.ts";

const seconds = (n: number): number => n * 1000;
const minutes = (n: number): number => n * 60_000;
const hours = (n: number): number => n * 3_600_000;

const issued = Date.parse("2026-11-20T18:30:00Z");
/** Chance at both of its ends, and in between. */
const chances = [0, 0.25, 0.5, 0.75, 1 - Number.EPSILON];

/** How long after it was issued a token is refreshed. */
const after = (life: number, before: number, chance = 0.5): number =>
  refreshTime({ issued, expires: issued + life }, before, () => chance) - issued;

test("a token of an hour is refreshed about ten minutes before its end", () => {
  for (const chance of chances) {
    expect(after(hours(1), minutes(10), chance)).toBeGreaterThanOrEqual(minutes(50) - seconds(30));
    expect(after(hours(1), minutes(10), chance)).toBeLessThanOrEqual(minutes(50));
  }
});

test.each([
  [minutes(15), minutes(45)],
  [minutes(30), minutes(30)],
  [seconds(1234), hours(1) - seconds(1234)],
])(
  "where %i ms are wanted before its end, there are so many, and half a minute more at most",
  (before, wanted) => {
    for (const chance of chances) {
      expect(after(hours(1), before, chance)).toBeLessThanOrEqual(wanted);
      expect(after(hours(1), before, chance)).toBeGreaterThanOrEqual(wanted - seconds(30));
    }
  },
);

test("however long before its end it is to be, one of an hour is used for twenty minutes", () => {
  for (const before of [seconds(2400), seconds(2410), seconds(3000), hours(1), hours(2)])
    for (const chance of chances) {
      expect(after(hours(1), before, chance)).toBeGreaterThanOrEqual(minutes(20));
      expect(after(hours(1), before, chance)).toBeLessThanOrEqual(minutes(20) + seconds(30));
    }
});

test("with nothing wanted before its end, a sixth of its life is left", () => {
  for (const life of [minutes(6), hours(1), hours(6)])
    for (const chance of chances) expect(after(life, 0, chance)).toBeLessThanOrEqual((life * 5) / 6);
});

test("tokens that were made together are refreshed at times of their own, half a minute apart at most", () => {
  for (const before of [minutes(10), seconds(3000), 0]) {
    const times = chances.map((chance) => after(hours(1), before, chance));
    expect(new Set(times).size).toBe(chances.length);
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(seconds(29));
    expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(seconds(30));
  }
});

test("the times of one of a few seconds are no further apart than its life allows", () => {
  const life = seconds(12);
  const times = chances.map((chance) => after(life, minutes(10), chance));
  expect(new Set(times).size).toBe(chances.length);
  expect(Math.max(...times)).toBe(seconds(10));
  expect(Math.min(...times)).toBeGreaterThanOrEqual(seconds(9.8));
});

describe("of any life", () => {
  const life = fc.integer({ min: seconds(10), max: hours(24) });
  const before = fc.integer({ min: 0, max: seconds(3000) });
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const start = fc.integer({ min: 0, max: issued });

  test("a token is refreshed after it was issued, and before the last sixth of its life", () => {
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

  test("one of more than twenty-five minutes is used for twenty of them", () => {
    const longer = fc.integer({ min: minutes(25), max: hours(24) });
    fc.assert(
      fc.property(longer, before, chance, (life, before, chance) => {
        expect(after(life, before, chance)).toBeGreaterThanOrEqual(minutes(20));
      }),
      { numRuns: 2000 },
    );
  });

  test("the more is wanted before its end, the sooner it is", () => {
    fc.assert(
      fc.property(life, before, before, chance, (life, one, other, chance) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)];
        expect(after(life, more, chance)).toBeLessThanOrEqual(after(life, less, chance));
      }),
    );
  });
});

test("one that has ended when it comes is refreshed at once", () => {
  expect(refreshTime({ issued, expires: issued - seconds(5) }, minutes(10))).toBe(issued);
});
