import { beforeEach, expect, test } from "vitest";
import { ConfigMap, Secret } from "../kube/kind.ts";
import { type SeenVersions, seenVersions } from "./seen.ts";

const at = { namespace: "default", name: "a" };
/** A version of an object whose uid is its name. */
const version = (resourceVersion: string, name = "a", owner?: string) => ({
  ...{ uid: name, resourceVersion, namespace: "default", name },
  ownerReferences: owner ? [{ apiVersion: "v1", kind: "X", name: "x", uid: owner, controller: true }] : [],
});
let seen: Map<string, string>;
let noted: SeenVersions;
beforeEach(() => {
  seen = new Map();
  noted = seenVersions(seen);
});

test("of an object that is read again the first version counts, also when it is gone by then", () => {
  noted.read(ConfigMap, at, version("5"), "exists");
  noted.read(ConfigMap, at, version("7"), "gone");
  noted.readAll(ConfigMap, "in default", [version("8")]);
  noted.read(ConfigMap, at, version("9"), "exists");
  expect(Object.fromEntries(seen)).toEqual({ a: "5" });
});

test("an object that was not there at first does not count, nor does a write over it", () => {
  noted.read(ConfigMap, at, undefined, "gone");
  noted.read(ConfigMap, at, version("7"), "exists");
  expect(noted.wrote("a", "8", "7")).toBe("overtaken");
  noted.readAll(ConfigMap, "of owner", [version("1", "b")]);
  noted.readAll(ConfigMap, "of owner", [version("1", "b"), version("2", "c")]);
  expect(Object.fromEntries(seen)).toEqual({ b: "1" });
});

test("it is missed by every read that would have found it", () => {
  noted.read(ConfigMap, at, undefined, "gone");
  noted.readAll(ConfigMap, "of owner", [version("1", "a", "owner")]);
  noted.read(ConfigMap, { ...at, name: "b" }, version("2", "b", "owner"), "exists");
  noted.readAll(ConfigMap, "in default", [version("3", "c", "owner"), version("4", "d", "another")]);
  noted.readAll(ConfigMap, "of another", [version("4", "d", "another"), version("5", "e", "another")]);
  expect(Object.fromEntries(seen)).toEqual({ d: "4" });
});

test("other kinds, names, and collections are read for the first time", () => {
  noted.read(ConfigMap, at, undefined, "gone");
  noted.readAll(ConfigMap, "of owner", []);
  noted.read(Secret, at, version("1", "secret"), "exists");
  noted.read(ConfigMap, { ...at, name: "b" }, version("2", "b"), "exists");
  noted.readAll(Secret, "of owner", [version("3", "c")]);
  noted.readAll(ConfigMap, "of another", [version("4", "d")]);
  expect(Object.fromEntries(seen)).toEqual({ secret: "1", b: "2", c: "3", d: "4" });
});

test("what is written is seen, unless it went over a version that was not read first", () => {
  noted.read(ConfigMap, at, version("5"), "exists");
  expect(noted.wrote("a", "6", "5")).toBe("seen");
  expect(noted.wrote("a", "7")).toBe("seen");
  expect(noted.wrote("new", "8")).toBe("seen");
  noted.readAll(ConfigMap, "of owner", [version("9")]);
  expect(noted.wrote("a", "10", "9")).toBe("overtaken");
  expect(Object.fromEntries(seen)).toEqual({ a: "7", new: "8" });
});

test("an object that a write finds does not count, unless it was read before", () => {
  noted.read(ConfigMap, at, version("5"), "exists");
  noted.foundLate("a");
  noted.foundLate("b");
  expect(noted.wrote("a", "6", "5")).toBe("seen");
  expect(noted.wrote("b", "8", "7")).toBe("overtaken");
  expect(Object.fromEntries(seen)).toEqual({ a: "6" });
});
