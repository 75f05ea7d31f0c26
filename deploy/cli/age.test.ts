import { expect, test } from "vitest";
import { age } from "./age.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test.for([
  [0, "0s"],
  [-3 * second, "0s"],
  [13 * second + 999, "13s"],
  [119 * second, "119s"],
  [2 * minute, "2m"],
  [2 * minute + 5 * second, "2m5s"],
  [59 * minute + 59 * second, "59m"],
  [3 * hour + 12 * minute, "3h12m"],
  [9 * hour + 12 * minute, "9h"],
  [47 * hour, "47h"],
  [2 * day + hour, "2d"],
] as const)("formats %i ms as %s", ([millis, text]) => {
  const now = Date.parse("2026-11-21T08:00:00Z");
  expect(age(new Date(now - millis).toISOString(), now)).toBe(text);
});
