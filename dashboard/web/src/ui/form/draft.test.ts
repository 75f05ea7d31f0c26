import fc from "fast-check";
import { expect, test } from "vitest";
import { mergePatched } from "../../../../../bus/worker/writes.ts";
import { mergePatchOf, pathText, valueAt, withoutEmpty, withValueAt } from "./draft.ts";

const name = fc.string({ minLength: 1, maxLength: 4 }).filter((text) => text !== "__proto__");
/** What a specification is made of: RFC 7386 knows no null in an object. */
const json = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.string(), fc.integer(), fc.boolean(), tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 3 }),
  object: fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
})).object as fc.Arbitrary<Record<string, unknown>>;

test("the merge patch of two objects makes the one what the other is, as the API server applies it", () => {
  fc.assert(
    fc.property(json, json, (before, after) => {
      const patch = mergePatchOf(before, after);
      expect(patch === undefined ? before : mergePatched(before, patch as object)).toEqual(after);
    }),
  );
});

test("what is the same makes no patch", () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(mergePatchOf(value, structuredClone(value))).toBeUndefined();
    }),
  );
});

test("what is put at a path is found there, and nothing else has changed", () => {
  const path = fc.array(name, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(path, fc.integer(), (at, value) => {
      const draft = { other: [1, { a: 2 }] };
      const changed = withValueAt(draft, ["draft", ...at], value);
      expect(valueAt(changed, ["draft", ...at])).toBe(value);
      expect(valueAt(changed, ["other"])).toBe(draft.other);
      expect(draft).toEqual({ other: [1, { a: 2 }] });
    }),
  );
});

test("what is taken away is gone: an item closes the gap, a field has no name left", () => {
  const draft = { env: [{ name: "A" }, { name: "B" }, { name: "C" }], image: "web" };
  expect(withValueAt(draft, ["env", 1], undefined)).toEqual({
    env: [{ name: "A" }, { name: "C" }],
    image: "web",
  });
  expect(Object.keys(withValueAt(draft, ["image"], undefined) as object)).toEqual(["env"]);
});

test("paths are written as the API server writes them", () => {
  expect(pathText(["spec", "env", 0, "valueFrom", "secretKeyRef"])).toBe(
    "spec.env[0].valueFrom.secretKeyRef",
  );
  expect(pathText([])).toBe("");
});

test("what was left empty is not sent, and zero and false are not empty", () => {
  const draft = {
    image: "",
    domains: ["a", ""],
    replicas: 0,
    paused: false,
    healthCheck: { path: "" },
    env: [],
  };
  expect(withoutEmpty(draft)).toEqual({ domains: ["a"], replicas: 0, paused: false });
  expect(withoutEmpty({ a: { b: "" } })).toBeUndefined();
});
