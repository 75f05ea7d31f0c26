import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonPatch, type PatchOperation } from "./jsonpatch.ts";

/** Applies the operations that jsonPatch returns. */
function applied(value: unknown, patch: readonly PatchOperation[]): unknown {
  const root = { "": structuredClone(value) } as Record<string, unknown>;
  for (const operation of patch) {
    const steps = operation.path.split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = steps.pop() ?? "";
    const parent = steps.reduce((found, step) => found[step] as Record<string, unknown>, root);
    if (operation.op === "remove") delete parent[last];
    else Object.defineProperty(parent, last, { value: operation.value, ...writable });
  }
  return root[""];
}
const writable = { writable: true, enumerable: true, configurable: true };

test("jsonPatch - turns any JSON value into any other", () => {
  const value = fc.jsonValue({ maxDepth: 3 }).map((one) => JSON.parse(JSON.stringify(one)) as unknown);
  fc.assert(
    fc.property(value, value, (from, to) => {
      expect(applied(from, jsonPatch(from, to))).toEqual(to);
    }),
  );
});

test("jsonPatch - names only what differs, with escaped paths", () => {
  expect(
    jsonPatch(
      { spec: { a: 1, l: [1] }, "a/b~c": 1, old: 1 },
      { spec: { a: 1, l: [2] }, "a/b~c": 2, new: {} },
    ),
  ).toEqual([
    { op: "replace", path: "/spec/l", value: [2] },
    { op: "replace", path: "/a~1b~0c", value: 2 },
    { op: "remove", path: "/old" },
    { op: "add", path: "/new", value: {} },
  ]);
  expect(jsonPatch({ a: 1, b: 2 }, { b: 2, a: 1 })).toEqual([]);
});
