import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { yamlText } from "./yaml.ts";

test("strings stay strings for readers of YAML 1.1 and of YAML 1.2", () => {
  const manifest = { values: ["on", "no", "y", "1:20", "0755", "1e3", "~", "", "2026-11-21", "true"] };
  for (const version of ["1.1", "1.2"] as const) {
    const [document] = parseAllDocuments(yamlText([manifest]), { version });
    expect(document?.toJS()).toEqual(manifest);
  }
});

test("writes no aliases and does not wrap long text", () => {
  const shared = { text: "word ".repeat(60).trim() };
  const text = yamlText([{ a: shared, b: shared }, { c: shared }]);
  expect(text).not.toMatch(/[&*]/);
  expect(text.split("\n").length).toBe(8);
});
