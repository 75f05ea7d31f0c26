/** Searching lines. */
import { expect, test } from "vitest";
import type { Chunk } from "./chunks.ts";
import { searchFor } from "./search.ts";

const chunkOf = (...texts: readonly string[]): Chunk => ({
  id: 1,
  lines: texts.map((text) => ({
    text,
    runs: [],
    at: undefined,
    order: "",
    isCut: false,
    source: { id: "", label: "", index: 0 },
  })),
});
const found = (text: string, ...texts: readonly string[]) =>
  searchFor(text)
    .matchesIn(chunkOf(...texts))
    .map(({ line, from, to }) => line.text.slice(from, to));

test.each([
  ["get", ["GET / get", "Get"], ["GET", "get", "Get"]],
  ["(a|b)*[c]\\d.", ["(A|b)*[c]\\d.", "ab"], ["(A|b)*[c]\\d."]],
  // The lower case of İ is longer.
  ["x", ["İİx"], ["x"]],
  ["straße-", ["STRAßE-1"], ["STRAßE-"]],
  ["🍣", ["a🍣b🍣"], ["🍣", "🍣"]],
  ["", ["a"], []],
  ["aa", ["aaaa"], ["aa", "aa"]],
])("finds %j in %j", (text, lines, matches) => {
  expect(found(text, ...lines)).toEqual(matches);
});
