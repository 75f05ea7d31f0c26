import { expect, test } from "vitest";
import { timeText } from "./timetext.ts";

test.each([
  [new Date("2026-01-02T03:04:05.999Z"), "2026-01-02T03:04:05Z"],
  [0, "1970-01-01T00:00:00Z"],
])("drops fractions of a second: %j", (at, text) => {
  expect(timeText(at)).toBe(text);
});
