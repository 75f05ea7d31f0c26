import fc from "fast-check";
import { expect, test } from "vitest";
import { pauseMillis } from "./failure.ts";

const made = Date.parse("2026-01-01T00:00:00Z");

test("no Build is had again within two seconds, whatever part of a second it was made in", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 0, max: 2000 }), (within, since) => {
      expect(pauseMillis(0, made, made + within + since)).toBeGreaterThan(0);
    }),
  );
});

test("the pauses become longer, up to ten minutes", () => {
  const pauses = [0, 1, 2, 3, 10, 100].map((retries) => pauseMillis(retries, made, made));
  expect(pauses).toEqual([2000, 10_000, 20_000, 40_000, 600_000, 600_000]);
});

test("after its pause it is time, and a clock that is behind puts it off no further", () => {
  expect(pauseMillis(1, made, made + 12_000)).toBe(0);
  expect(pauseMillis(1, made, made + 11_000)).toBe(1000);
  expect(pauseMillis(1, made, made - 86_400_000)).toBe(10_000);
});
