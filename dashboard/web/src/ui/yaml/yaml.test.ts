import { expect, test } from "vitest";
import { parse } from "yaml";
import { partsOf, yamlOf } from "./yaml.ts";

const object = {
  apiVersion: "example.com/v1",
  kind: "Example",
  metadata: { name: "web", managedFields: [{ manager: "kubectl" }] },
  spec: {
    answer: "yes",
    script: "first: line\nsecond: line\n",
    args: ["key: value"],
    list: [{ a: 1, b: {} }],
  },
};

test("an object becomes YAML without managed fields, which kubectl reads as the same object", () => {
  const text = yamlOf(object);
  expect(text).toMatch(/^apiVersion: example.com\/v1\nkind: Example\nmetadata:\n {2}name: web\nspec:/);
  expect(parse(text, { version: "1.1" })).toEqual({ ...object, metadata: { name: "web" } });
  expect(text).toContain('answer: "yes"');
});

test("long text stays on one line, and equal objects are written twice", () => {
  const long = "word ".repeat(50).trim();
  const shared = { long };
  const text = yamlOf({ ...object, spec: { a: shared, b: shared } });
  expect(text.split(long).length).toBe(3);
  expect(text).not.toMatch(/[&*]a1/);
});

test("text that looks like keys is not marked as keys", () => {
  const parts = partsOf(yamlOf(object));
  expect(parts.map(({ text }) => text).join("")).toBe(yamlOf(object));
  expect(parts.filter(({ isKey }) => isKey).map(({ text }) => text)).toEqual(
    "apiVersion kind metadata name spec answer script args list a b".split(" "),
  );
});
