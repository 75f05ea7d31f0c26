import fc from "fast-check";
import { expect, test } from "vitest";
import { percentileWindow } from "./percentiles.ts";

const millis = fc.nat(1000 * 86_400);

test("percentiles are accurate to five percent, or to a millisecond", () => {
  fc.assert(
    fc.property(fc.array(millis, { minLength: 1, maxLength: 300 }), (values) => {
      const window = percentileWindow(3);
      for (const value of values) window.add(value);
      const sorted = [...values].sort((a, b) => a - b);
      const spread = window.spread();
      for (const [share, found] of [
        [0.5, spread?.p50],
        [0.99, spread?.p99],
      ] as const) {
        const exact = sorted[Math.ceil(values.length * share) - 1] ?? Number.NaN;
        expect(Math.abs((found ?? Number.NaN) - exact)).toBeLessThanOrEqual(1 + exact * 0.05);
      }
    }),
  );
});

test("drops exactly the values that are older than the window", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(millis, { maxLength: 5 }), { maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      (ticks, length) => {
        const window = percentileWindow(length);
        for (const [at, values] of ticks.entries()) {
          if (at > 0) window.tick();
          for (const value of values) window.add(value);
        }
        const fresh = percentileWindow(length);
        for (const value of ticks.slice(-length).flat()) fresh.add(value);
        expect(window.spread()).toEqual(fresh.spread());
      },
    ),
  );
});
