import { expect, test } from "vitest";
import { count, duration, ordinal, plural, rate } from "./numbers.ts";

test.each([
  [0, "0"],
  [0.01, "< 0.1"],
  [0.06, "0.1"],
  [3, "3"],
  [9.94, "9.9"],
  [9.96, "10"],
  [1234.5, "1,235"],
])("shows %f per second as %s", (perSecond, text) => {
  expect(rate(perSecond)).toBe(text);
});

test.each([
  [0, "< 1 ms"],
  [999.4, "999 ms"],
  [999.6, "1 s"],
  [1540, "1.5 s"],
  [59_000, "59 s"],
  [90_000, "1.5 min"],
  [7_200_000, "2 h"],
])("shows %f milliseconds as %s", (millis, text) => {
  expect(duration(millis)).toBe(text);
});

test("distinguishes an unknown number from zero", () => {
  expect([count(null), count(0), count(12_345)]).toEqual(["–", "0", "12,345"]);
});

test("forms English ordinals and plurals", () => {
  expect([1, 2, 3, 4, 11, 21].map(ordinal)).toEqual(["1st", "2nd", "3rd", "4th", "11th", "21st"]);
  expect([plural(1, "object"), plural(2, "object")]).toEqual(["1 object", "2 objects"]);
});
