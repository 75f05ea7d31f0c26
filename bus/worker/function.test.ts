import { expect, test } from "vitest";
import { z } from "zod";
import { cel } from "../kube/crd.ts";
import { defineKind, externalKind, type KindOptions } from "../kube/kind.ts";
import { definedKinds } from "./definedkinds.ts";
import { defineFunction, kindsOf, type PolicyRule } from "./function.ts";
import { needsOf } from "./needs.ts";

const kind = (name: string, version = "v1") =>
  externalKind({ group: "test.denrei.dev", version, kind: name, plural: `${name.toLowerCase()}s` });
const declare = (name: string) =>
  defineFunction({ name, for: kind("Thing"), reconcile: async () => undefined });

test.each([
  ["Upper", /lower-case letters, digits and dashes.*"Upper"/],
  ["1st", /a letter first.*"1st"/],
  ["a".repeat(41), /at most 40/],
  ["bridge", /other than "bridge"/],
  ["bridge-opted-in", /other than "bridge-opted-in"/],
])("rejects the name %s and says what was expected", (name, message) => {
  expect(() => declare(name)).toThrow(message);
});

test.each([
  { apiGroups: [""], resources: ["pods", "secrets"], verbs: ["get"] },
  { apiGroups: ["apps", "*"], resources: ["*"], verbs: ["*"] },
])("rejects permissions for $resources of $apiGroups, because they cover all Secrets", (rule) => {
  const permitted = (permissions: PolicyRule[]) =>
    defineFunction({ name: "thing", for: kind("Thing"), permissions, reconcile: async () => undefined });
  expect(() => permitted([rule])).toThrow(/do not cover Secrets.*owns or watches/);
  expect(permitted([{ ...rule, apiGroups: ["apps"] }]).permissions).toHaveLength(1);
});

test("watches a kind once if it is both owned and watched, in any version", () => {
  const fn = defineFunction({
    name: "thing",
    for: kind("Thing"),
    owns: [kind("Part"), kind("Part", "v2")],
    watches: [{ kind: kind("Part"), keys: () => [] }],
    reconcile: async () => undefined,
  });
  expect(kindsOf(fn).map(({ kind }) => kind)).toEqual(["Thing", "Part"]);
});

type Changes = Partial<KindOptions<z.ZodObject, undefined>>;
const defined = (changes: Changes = {}) =>
  defineKind({
    group: "test.denrei.dev",
    version: "v1",
    kind: "Thing",
    description: "",
    spec: z.object({}),
    ...changes,
  } as KindOptions<z.ZodObject, undefined>);
const reconciling = (name: string, changes?: Changes) =>
  defineFunction({ name, for: defined(changes), reconcile: async () => undefined });

test.each<[string, Changes]>([
  ["fields", { spec: z.object({ a: z.string() }) }],
  ["a version", { version: "v2" }],
  ["admission hooks", { admission: { validate: () => undefined } }],
  ["a scope", { scope: "Cluster" }],
  ["a plural", { plural: "thingies" }],
  ["writers", { writers: "admin" }],
  ["a kind, of the same plural", { kind: "Thong", plural: "things" }],
])("rejects two definitions of a kind that differ in %s, and names both functions", (_, changes) => {
  const functions = [reconciling("one"), reconciling("other", changes)];
  const message =
    /^found two different definitions of \S+, Thing v1 in the function one and .* in the function other: define it once/;
  expect(() => definedKinds(functions)).toThrow(message);
  expect(() => needsOf(functions)).toThrow(message);
});

type Check = (text: string) => boolean;
const rule = cel({ rule: "self.size() == 1", message: "one" });

test.each<[string, (check: Check) => z.ZodString]>([
  ["refine", (check) => z.string().refine(check).meta(rule)],
  [
    "superRefine",
    (check) =>
      z
        .string()
        .superRefine((text) => void check(text))
        .meta(rule),
  ],
  [
    "check",
    (check) =>
      z
        .string()
        .check(({ value }) => void check(value))
        .meta(rule),
  ],
])("rejects two definitions of a kind whose code in %s differs", (_, refined) => {
  const isOne: Check = (text) => text.length === 1;
  const spec = (item: z.ZodString) => z.object({ list: z.array(z.lazy(() => item).nullable()).optional() });
  const shared = refined(isOne);
  const of = (...items: readonly z.ZodString[]) =>
    items.map((item, at) => reconciling(`f${at}`, { spec: spec(item) }));
  expect(definedKinds(of(shared, shared))).toHaveLength(1);
  expect(() =>
    definedKinds(
      of(
        shared,
        refined((text) => text.length < 2),
      ),
    ),
  ).toThrow("two different definitions of Thing.test.denrei.dev");
});

test("rejects two definitions of a kind in one function", () => {
  const declared = () =>
    defineFunction({
      name: "thing",
      for: kind("Owner"),
      owns: [defined(), defined({ version: "v2" })],
      reconcile: async () => undefined,
    });
  expect(declared).toThrow("two different definitions of Thing.test.denrei.dev");
});

test("accepts a definition that is loaded twice, or also declared as an external kind", () => {
  const other = defineFunction({ name: "user", for: kind("Thing"), reconcile: async () => undefined });
  const functions = [reconciling("one"), reconciling("again"), other];
  expect(definedKinds(functions)).toEqual([functions[0]?.for]);
});
