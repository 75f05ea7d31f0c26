import { expect, test } from "vitest";
import { didYouMean } from "./nearest.ts";

const names = ["hikawa", "githubapp", "clustergithubapp", "modoki-report"];

test.each([
  ["hikwa", "hikawa"],
  ["hiakwa", "hikawa"],
  ["Hikawa", "hikawa"],
  ["githubap", "githubapp"],
  ["clustergithubap", "clustergithubapp"],
  ["modoki_report", "modoki-report"],
])("suggests a name for %s: %s", (word, name) => {
  expect(didYouMean(word, names)).toBe(` (did you mean ${name}?)`);
});

test.each(["unknown", "", "h", "piped", "wakahi"])("suggests nothing for %j", (word) => {
  expect(didYouMean(word, names)).toBe("");
});
