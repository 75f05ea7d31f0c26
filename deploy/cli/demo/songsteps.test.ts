import { expect, test } from "vitest";
import { withoutMiddle } from "./songsteps.ts";

const rows = (count: number) => Array.from({ length: count }, (_, at) => String(at + 1));

test("a long table is shown without its middle", () => {
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

test("a row is not replaced by the word that it is missing", () => {
  expect(withoutMiddle(rows(10))).toEqual(rows(10));
  expect(withoutMiddle([])).toEqual([]);
});
