import { expect, test } from "vitest";
import { nextSort, parseSort, sortKeyOf, sortRows, statusValue, timeValue } from "./sort.ts";

const sorted = (values: readonly (string | number | undefined)[], direction: "ascending" | "descending") =>
  sortRows(values, (value) => value, direction);

test("names sort naturally, numbers by value, and missing values are last in both directions", () => {
  expect(sorted(["a10", undefined, "a2", "B1"], "ascending")).toEqual(["a2", "a10", "B1", undefined]);
  expect(sorted(["a10", undefined, "a2", "B1"], "descending")).toEqual(["B1", "a10", "a2", undefined]);
  expect(sorted([10, 9, undefined, 100], "ascending")).toEqual([9, 10, 100, undefined]);
});

test("rows with equal values keep their order in both directions", () => {
  const rows = ["b1", "a1", "c1", "a2"];
  const byNumber = (row: string) => row.slice(1);
  expect(sortRows(rows, byNumber, "ascending")).toEqual(["b1", "a1", "c1", "a2"]);
  expect(sortRows(rows, byNumber, "descending")).toEqual(["a2", "b1", "a1", "c1"]);
});

test("times of different precision sort as times", () => {
  const times = [
    "2026-01-01T00:00:01Z",
    "2026-01-01T00:00:00.900000Z",
    "2026-01-01T01:00:00+01:00",
    undefined,
  ];
  expect(sortRows(times, timeValue, "ascending")).toEqual([times[2], times[1], times[0], undefined]);
});

test("statuses sort by severity, then by word", () => {
  const statuses = [
    ["good", "Ready"],
    ["bad", "Stalled"],
    ["off", "Paused"],
    ["bad", "Image missing"],
    ["busy", "Updating"],
  ] as const;
  expect(sortRows(statuses, statusValue, "ascending").map(([, word]) => word)).toEqual([
    "Image missing",
    "Stalled",
    "Updating",
    "Paused",
    "Ready",
  ]);
});

test("a header cycles through ascending, descending, and none", () => {
  const key = sortKeyOf("Token expires");
  expect(key).toBe("token-expires");
  const once = nextSort(parseSort("-created"), key);
  expect(once).toBe("token-expires");
  const twice = nextSort(parseSort(once ?? ""), key);
  expect(twice).toBe("-token-expires");
  expect(nextSort(parseSort(twice ?? ""), key)).toBeUndefined();
});
