import fc from "fast-check";
import { expect, test } from "vitest";
import { mergePatched } from "./writes.ts";

// The examples of RFC 7386, appendix A.
test.each([
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: "b" }, ["c"], ["c"]],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])("merge patch - %j with %j is %j", (target, patch, result) => {
  expect(mergePatched(target, patch)).toEqual(result);
});

test("merge patch - applying a patch twice is applying it once, and its target is not changed", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
      const before = JSON.stringify(target);
      const once = mergePatched(target, patch);
      expect(mergePatched(once, patch)).toEqual(once);
      expect(JSON.stringify(target)).toBe(before);
    }),
  );
});
