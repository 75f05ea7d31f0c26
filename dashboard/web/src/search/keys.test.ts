import { expect, test } from "vitest";
import { moved } from "./keys.ts";

test.each([
  ["ArrowDown", 0, 1],
  ["ArrowDown", 2, 0],
  ["ArrowUp", 1, 0],
  ["ArrowUp", 0, 2],
  ["Home", 2, 0],
  ["End", 0, 2],
])("%s leads from %i to %i of three", (key, at, to) => {
  expect(moved(key, at, 3)).toBe(to);
});

test("other keys, and all keys without results, lead nowhere", () => {
  expect(moved("a", 1, 3)).toBeUndefined();
  expect(moved("ArrowDown", 0, 0)).toBeUndefined();
});
