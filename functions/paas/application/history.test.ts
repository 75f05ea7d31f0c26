import fc from "fast-check";
import { expect, test } from "vitest";
import { historyWith } from "./history.ts";

const time = new Date("2026-01-02T03:04:05.678Z");
const entry = (image: string, revision?: string) => ({
  image,
  ...(revision !== undefined && { revision }),
  time: "2026-01-01T00:00:00Z",
});

test("has the image that runs first, each image once, and no more than ten, whatever has run", () => {
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

test("an image that runs on is the same entry, so that nothing is written", () => {
  const before = [entry("web:1", "a")];
  expect(historyWith(before, { image: "web:1", revision: "a", time })).toBe(before);
  expect(historyWith(before, { image: "web:1", revision: undefined, time })).toBe(before);
});

test("an image that comes of a later revision is said to be of that one, since when it runs", () => {
  expect(historyWith([entry("web:1", "a"), entry("web:0")], { image: "web:1", revision: "b", time })).toEqual(
    [entry("web:1", "b"), entry("web:0")],
  );
});

test("an entry has its time in seconds, and a revision if there is one", () => {
  expect(historyWith([], { image: "web:1", revision: undefined, time })).toStrictEqual([
    { image: "web:1", time: "2026-01-02T03:04:05Z" },
  ]);
});
