import fc from "fast-check";
import { expect, test } from "vitest";
import { historyWith } from "./history.ts";

const time = new Date("2026-01-02T03:04:05.678Z");
const entry = (image: string, revision?: string) => ({
  image,
  ...(revision !== undefined && { revision }),
  time: "2026-01-01T00:00:00Z",
});

test("lists the current image first, each image once, and at most ten", () => {
  const run = fc.record({
    image: fc.integer({ min: 0, max: 15 }).map(String),
    revision: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(run, { maxLength: 60, size: "max" }), (runs) => {
      const history = runs.reduce<ReturnType<typeof historyWith>>(
        (before, { image, revision }) => historyWith(before, { image, revision, time }),
        [],
      );
      const latest = [...new Set(runs.map(({ image }) => image).reverse())];
      expect(history.map(({ image }) => image)).toEqual(latest.slice(0, 10));
    }),
  );
});

test("keeps the entry of an image that continues to run", () => {
  const before = [entry("web:1", "a")];
  expect(historyWith(before, { image: "web:1", revision: "a", time })).toBe(before);
  expect(historyWith(before, { image: "web:1", revision: undefined, time })).toBe(before);
});

test("updates the revision if a later one builds the same image", () => {
  expect(historyWith([entry("web:1", "a"), entry("web:0")], { image: "web:1", revision: "b", time })).toEqual(
    [entry("web:1", "b"), entry("web:0")],
  );
});

test("records the time in seconds, and the revision if there is one", () => {
  expect(historyWith([], { image: "web:1", revision: undefined, time })).toStrictEqual([
    { image: "web:1", time: "2026-01-02T03:04:05Z" },
  ]);
});
