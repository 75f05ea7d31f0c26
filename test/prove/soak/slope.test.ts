import { expect, test } from "vitest";
import { random } from "../../harness/random.ts";
import { slopeOf } from "./slope.ts";

/** Samples every ten seconds: a line, noise of up to `noise` in both directions, and some outliers. */
function samples(count: number, perHour: number, noise: number, seed = 1) {
  const next = random(seed);
  return Array.from({ length: count }, (_, at) => {
    const seconds = at * 10;
    const outlier = next() < 0.05 ? 50 * next() : 0;
    return { seconds, value: 100 + (seconds / 3600) * perHour + noise * (2 * next() - 1) + outlier };
  });
}

test("slope - finds a line exactly", () => {
  const exact = Array.from({ length: 10 }, (_, at) => ({ seconds: at * 10, value: at }));
  expect(slopeOf(exact)).toEqual({ perHour: 360, low: 360, high: 360 });
});

test("slope - noise and outliers neither hide a leak nor simulate one", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const leak = slopeOf(samples(120, 18, 1, seed));
    expect(leak.low).toBeLessThan(18);
    expect(leak.high).toBeGreaterThan(18);
    expect(leak.low).toBeGreaterThan(5);
    const none = slopeOf(samples(120, 0, 1, seed));
    expect(none.low).toBeLessThan(0.5);
  }
});
