import { expect, test } from "vitest";
import { having } from "./having.ts";

const texts = ["team-a web Ready", "team-b web Rollout failed", "team-b api Ready"];
const found = (words: string) => having(texts, (text) => text, words);

test("those are found that have each of the words, in any order and in any case", () => {
  expect(found("WEB team-b")).toEqual(["team-b web Rollout failed"]);
  expect(found("ready")).toEqual([texts[0], texts[2]]);
  expect(found("nothing of it")).toEqual([]);
});

test("without words all are found", () => {
  expect(found("  ")).toEqual(texts);
});
