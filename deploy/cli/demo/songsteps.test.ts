import { expect, test } from "vitest";
import { withoutMiddle } from "./songsteps.ts";

const rows = (count: number) => Array.from({ length: count }, (_, at) => String(at + 1));

test("omits the middle of a long table", () => {
  expect(withoutMiddle(rows(132))).toEqual([
    "1",
    "2",
    "3",
    "(123 more)",
    "127",
    "128",
    "129",
    "130",
    "131",
    "132",
  ]);
});

test("does not replace a single row by a note", () => {
  expect(withoutMiddle(rows(10))).toEqual(rows(10));
  expect(withoutMiddle([])).toEqual([]);
});
