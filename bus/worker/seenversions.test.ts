import { beforeEach, expect, test } from "vitest";
import { ConfigMap, Secret } from "../kube/kind.ts";
import { type SeenVersions, seenVersions } from "./seenversions.ts";

const at = { namespace: "default", name: "a" };
/** A version of an object whose uid is its name. */
const version = (resourceVersion: string, name = "a", owner?: string) => ({
  ...{ uid: name, resourceVersion, namespace: "default", name },
  ownerReferences: owner ? [{ apiVersion: "v1", kind: "X", name: "x", uid: owner, controller: true }] : [],
});
let seen: Map<string, string>;
let recorded: SeenVersions;
beforeEach(() => {
  seen = new Map();
  recorded = seenVersions(seen);
});

test("the first version of an object counts, even if a later read finds it deleted", () => {
  recorded.read(ConfigMap, at, version("5"), "exists", "store");
  recorded.read(ConfigMap, at, version("7"), "gone", "store");
  recorded.readAll(ConfigMap, "in default", [version("8")], "store");
  recorded.read(ConfigMap, at, version("9"), "exists", "store");
  expect(Object.fromEntries(seen)).toEqual({ a: "5" });
});

test("an older version in a later read counts, unless the object was written in between", () => {
  recorded.read(ConfigMap, at, version("7"), "exists", "server");
  recorded.read(ConfigMap, { ...at, name: "b" }, version("7", "b"), "exists", "server");
  expect(recorded.wrote("b", "8", "7")).toBe("seen");
  recorded.readAll(ConfigMap, "of owner", [version("5", "a", "owner"), version("6", "b", "owner")], "store");
  expect(recorded.wrote("a", "9", "7")).toBe("overtaken");
  expect(Object.fromEntries(seen)).toEqual({ a: "5", b: "8" });
});

test("an object missing from a later read counts if the API server was read, but not if the store was", () => {
  const found = ["a", "b", "c", "d"].map((name) => version("7", name, "owner"));
  recorded.readAll(ConfigMap, "in default", found, "server");
  expect(recorded.wrote("c", "8", "7")).toBe("seen");
  recorded.readAll(ConfigMap, "of owner", [version("7", "b", "owner"), version("7", "d", "owner")], "store");
  recorded.read(ConfigMap, { ...at, name: "b" }, undefined, "gone", "store");
  recorded.read(ConfigMap, { ...at, name: "d" }, undefined, "gone", "server");
  expect(recorded.wrote("a", "9", "7")).toBe("overtaken");
  expect(Object.fromEntries(seen)).toEqual({ c: "8", d: "7" });
});

test("an object that was absent at first does not count, nor does a write over it", () => {
  recorded.read(ConfigMap, at, undefined, "gone", "store");
  recorded.read(ConfigMap, at, version("7"), "exists", "store");
  expect(recorded.wrote("a", "8", "7")).toBe("overtaken");
  recorded.readAll(ConfigMap, "of owner", [version("1", "b")], "store");
  recorded.readAll(ConfigMap, "of owner", [version("1", "b"), version("2", "c")], "store");
  expect(Object.fromEntries(seen)).toEqual({ b: "1" });
});

test("every read that should have found an object can miss it", () => {
  recorded.read(ConfigMap, at, undefined, "gone", "store");
  recorded.readAll(ConfigMap, "of owner", [version("1", "a", "owner")], "store");
  recorded.read(ConfigMap, { ...at, name: "b" }, version("2", "b", "owner"), "exists", "store");
  recorded.readAll(
    ConfigMap,
    "in default",
    [version("3", "c", "owner"), version("4", "d", "another")],
    "store",
  );
  recorded.readAll(
    ConfigMap,
    "of another",
    [version("4", "d", "another"), version("5", "e", "another")],
    "store",
  );
  expect(Object.fromEntries(seen)).toEqual({ d: "4" });
});

test("reads of other kinds, names, and collections do not make an object missed", () => {
  recorded.read(ConfigMap, at, undefined, "gone", "store");
  recorded.readAll(ConfigMap, "of owner", [], "store");
  recorded.read(Secret, at, version("1", "secret"), "exists", "store");
  recorded.read(ConfigMap, { ...at, name: "b" }, version("2", "b"), "exists", "store");
  recorded.readAll(Secret, "of owner", [version("3", "c")], "store");
  recorded.readAll(ConfigMap, "of another", [version("4", "d")], "store");
  expect(Object.fromEntries(seen)).toEqual({ secret: "1", b: "2", c: "3", d: "4" });
});

test("a written version counts as seen, unless it replaced a version newer than the first read", () => {
  recorded.read(ConfigMap, at, version("5"), "exists", "store");
  expect(recorded.wrote("a", "6", "5")).toBe("seen");
  expect(recorded.wrote("a", "7")).toBe("seen");
  expect(recorded.wrote("new", "8")).toBe("seen");
  recorded.readAll(ConfigMap, "of owner", [version("9")], "store");
  expect(recorded.wrote("a", "10", "9")).toBe("overtaken");
  expect(Object.fromEntries(seen)).toEqual({ a: "7", new: "8" });
});

test("an object that a create finds does not count, unless it was read before", () => {
  recorded.read(ConfigMap, at, version("5"), "exists", "store");
  recorded.foundLate("a");
  recorded.foundLate("b");
  expect(recorded.wrote("a", "6", "5")).toBe("seen");
  expect(recorded.wrote("b", "8", "7")).toBe("overtaken");
  expect(Object.fromEntries(seen)).toEqual({ a: "6" });
});
