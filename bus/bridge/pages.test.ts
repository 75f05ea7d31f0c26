import { expect, test } from "vitest";
import { firstPage, nextPage } from "./pages.ts";

const items = (count: number, size: number) => Array.from({ length: count }, () => "x".repeat(size));

test("pages - of small objects they soon are as large as a list's may be", () => {
  const sizes = [firstPage];
  while (sizes.length < 4) sizes.push(nextPage(sizes.at(-1) ?? 0, items(20, 1000)));
  expect(sizes).toEqual([50, 200, 500, 500]);
});

test("pages - of large objects they have a few, and at least ten", () => {
  expect(nextPage(50, items(50, 1_000_000))).toBe(15);
  expect(nextPage(500, items(500, 3_000_000).slice(0, 20))).toBe(10);
});

test("pages - one large object among many is enough to ask for fewer", () => {
  const mixed = items(56, 100);
  mixed[14] = "x".repeat(800_000);
  expect(nextPage(50, mixed)).toBe(19);
});

test("pages - an empty one says nothing about the next", () => {
  expect(nextPage(50, [])).toBe(200);
});
