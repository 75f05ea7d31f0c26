/** Merging lines by time. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Chunk, type LogLine, linesOf, maxLines, withLines } from "./chunks.ts";

const line = (order: number, text = ""): LogLine => ({
  text,
  runs: [],
  at: undefined,
  order: String(order).padStart(6, "0"),
  isCut: false,
  source: { id: "pod/main", label: "pod", index: 0 },
});
const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => line(from + at));

test("lines of any arrival are in order of time, and lines of the same time in order of arrival", () => {
  const batches = fc.array(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 200 }), { maxLength: 12 });
  fc.assert(
    fc.property(batches, (orders) => {
      let count = 0;
      const added = orders.map((batch) => batch.map((order) => line(order, String(count++))));
      const chunks = added.reduce<readonly Chunk[]>(withLines, []);
      expect(linesOf(chunks)).toEqual(added.flat().toSorted((a, b) => a.order.localeCompare(b.order)));
      expect(new Set(chunks.map(({ id }) => id)).size).toBe(chunks.length);
      for (const chunk of chunks) expect(chunk.lines.length).toBeLessThanOrEqual(100);
    }),
  );
});

test("chunks before a new line stay the same objects", () => {
  const before = withLines([], lines(0, 1050));
  const after = withLines(before, [line(2000)]);
  expect(after.slice(0, 10)).toEqual(before.slice(0, 10));
  for (const [index, chunk] of before.slice(0, 10).entries()) expect(after[index]).toBe(chunk);
  expect(after[10]?.lines.length).toBe(51);
  const late = withLines(after, [line(555)]);
  expect(late.findIndex((chunk, index) => chunk !== after[index])).toBe(5);
});

test("the oldest lines are dropped, in whole chunks", () => {
  let chunks: readonly Chunk[] = [];
  for (let at = 0; at < 3 * maxLines; at += 70) chunks = withLines(chunks, lines(at, at + 70));
  const held = linesOf(chunks);
  expect(held.length).toBeGreaterThanOrEqual(maxLines);
  expect(held.length).toBeLessThan(maxLines + 100);
  expect(held.at(-1)?.order).toBe("015049");
});
