import fc from "fast-check";
import { expect, test } from "vitest";
import { moved, periodIn, rangeOf, ranges, selected, zoomIn, zoomOut } from "./periods.ts";

const now = 1_800_000_000;
const day = 86_400;

test("zooms around the middle, and moves by half of the length", () => {
  const period = { from: now - 4000, to: now - 2000 };
  expect(zoomIn(period, now)).toEqual({ from: now - 3500, to: now - 2500 });
  expect(zoomOut(zoomIn(period, now), now)).toEqual(period);
  expect(moved(period, -1, now)).toEqual({ from: now - 5000, to: now - 3000 });
  expect(moved(period, 1, now)).toEqual({ from: now - 3000, to: now - 1000 });
});

test("a period ends now at the latest, and never shrinks to less than a minute", () => {
  const last = { from: now - 600, to: now };
  expect(moved(last, 1, now)).toEqual(last);
  expect(zoomOut(last, now)).toEqual({ from: now - 1200, to: now });
  expect(selected({ from: now - 90.4, to: now - 90.2 }, now)).toEqual({ from: now - 120, to: now - 60 });
});

test("all periods are whole seconds within the last day", () => {
  const time = fc.double({ min: now - 2 * day, max: now + day, noNaN: true });
  fc.assert(
    fc.property(time, time, (one, other) => {
      const period = { from: Math.min(one, other), to: Math.max(one, other) };
      for (const { from, to } of [
        selected(period, now),
        zoomIn(period, now),
        zoomOut(period, now),
        moved(period, 1, now),
      ]) {
        expect([from, to].every(Number.isInteger)).toBe(true);
        expect(from).toBeGreaterThanOrEqual(now - day);
        expect(to).toBeLessThanOrEqual(now);
        expect(to - from).toBeGreaterThanOrEqual(60);
      }
    }),
  );
});

test("an address without a valid range or period has the default", () => {
  expect(rangeOf(undefined)).toBe(ranges[1]);
  expect(rangeOf("nonsense")).toBe(ranges[1]);
  expect(rangeOf("24h").seconds).toBe(day);
  expect(periodIn({ from: "10", to: "20" })).toEqual({ from: 10, to: 20 });
  for (const query of [{}, { from: "10" }, { from: "20", to: "10" }, { from: "x", to: "20" }])
    expect(periodIn(query as Record<string, string>)).toBeUndefined();
});
