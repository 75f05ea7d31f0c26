import fc from "fast-check";
import { expect, test } from "vitest";
import { mergePatched } from "../../../../../bus/worker/writes.ts";
import {
  hasPatch,
  mergePatchOf,
  pathText,
  pathWithoutEmpty,
  valueAt,
  withoutEmpty,
  withValueAt,
} from "./draft.ts";

const name = fc.string({ minLength: 1, maxLength: 4 }).filter((text) => text !== "__proto__");
/** JSON objects without null, which a merge patch (RFC 7386) cannot express. */
const json = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.string(), fc.integer(), fc.boolean(), tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 3 }),
  object: fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
})).object as fc.Arbitrary<Record<string, unknown>>;

test("the merge patch of two objects turns the first into the second, applied as the API server does", () => {
  fc.assert(
    fc.property(json, json, (before, after) => {
      const patch = mergePatchOf(before, after);
      expect(patch === undefined ? before : mergePatched(before, patch as object)).toEqual(after);
    }),
  );
});

test("equal objects make no patch", () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(mergePatchOf(value, structuredClone(value))).toBeUndefined();
    }),
  );
});

test("setting a value at a path changes nothing else", () => {
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

test("setting undefined removes a list item or a field", () => {
  const draft = { env: [{ name: "A" }, { name: "B" }, { name: "C" }], image: "web" };
  expect(withValueAt(draft, ["env", 1], undefined)).toEqual({
    env: [{ name: "A" }, { name: "C" }],
    image: "web",
  });
  expect(Object.keys(withValueAt(draft, ["image"], undefined) as object)).toEqual(["env"]);
});

test("writes paths as the API server does", () => {
  expect(pathText(["spec", "env", 0, "valueFrom", "secretKeyRef"])).toBe(
    "spec.env[0].valueFrom.secretKeyRef",
  );
  expect(pathText([])).toBe("");
});

test("removes empty values, but keeps zero and false", () => {
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

test("finds a list item at its position among the items that are sent", () => {
  const draft = { env: [{ name: "" }, { name: "A" }, {}, { name: "B" }], name: "" };
  expect(pathWithoutEmpty(draft, ["env", 1, "name"])).toEqual(["env", 0, "name"]);
  expect(pathWithoutEmpty(draft, ["env", 3])).toEqual(["env", 1]);
  expect(pathWithoutEmpty(draft, ["env", 0, "name"])).toBeUndefined();
  expect(pathWithoutEmpty(draft, ["name"])).toEqual(["name"]);
  expect(pathWithoutEmpty(draft, ["spec", "image"])).toEqual(["spec", "image"]);
});

test("a patch is recognized in a value that has its changes, whatever else the value has", () => {
  const before = { image: "web:1", env: [{ name: "A" }], resources: { limits: { cpu: "1" }, requests: {} } };
  const after = { image: "web:2", env: [{ name: "B" }], resources: { limits: { cpu: "1" } } };
  const patch = mergePatchOf(before, after);
  expect(patch).toEqual({ image: "web:2", env: [{ name: "B" }], resources: { requests: null } });
  expect(hasPatch(after, patch)).toBe(true);
  expect(hasPatch({ ...after, pinnedImage: "web:0" }, patch)).toBe(true);
  expect(hasPatch(before, patch)).toBe(false);
  expect(hasPatch({ ...after, image: "web:3" }, patch)).toBe(false);
  expect(hasPatch({ ...after, resources: undefined }, patch)).toBe(true);
  expect(hasPatch(before, undefined)).toBe(true);
});
