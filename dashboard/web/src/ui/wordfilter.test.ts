import { expect, test } from "vitest";
import { filterByWords } from "./wordfilter.ts";

const texts = ["team-a web Ready", "team-b web Rollout failed", "team-b api Ready"];
const found = (words: string) => filterByWords(texts, (text) => text, words);

test("finds items that contain all words, in any order and in any case", () => {
  expect(found("WEB team-b")).toEqual(["team-b web Rollout failed"]);
  expect(found("ready")).toEqual([texts[0], texts[2]]);
  expect(found("nothing of it")).toEqual([]);
});

test("finds all items without words", () => {
  expect(found("  ")).toEqual(texts);
});
