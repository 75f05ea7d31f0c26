import { describe, expect, test } from "vitest";
import { ConfigMap, externalKind, Pod, Secret } from "../kube/kind.ts";
import type { Stored } from "../kube/object.ts";
import { consumers } from "../subjects.ts";
import { defineFunction, subscriptionOf } from "./function.ts";
import {
  annotations,
  declarationOf,
  filteredWatches,
  generation,
  isSelected,
  labels,
  projectionOf,
  type Watch,
} from "./watch.ts";

const watch = (filters: Partial<Watch> = {}): Watch => ({ kind: Pod, keys: () => [], ...filters });
const pod = (changes: object = {}, metadata: object = {}): Stored =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name: "a", uid: "a", resourceVersion: "7", ...metadata },
    spec: { nodeName: "n", hostNetwork: false, priority: 0 },
    ...changes,
  }) as Stored;
const declared = (watches: readonly Watch[], allowed: readonly string[] = []) =>
  defineFunction({
    ...{ name: "thing", for: Pod, watches, annotations: allowed },
    reconcile: async () => undefined,
  });

describe("selectors", () => {
  test.each<[string, Partial<Watch>, boolean]>([
    ["no filter", {}, true],
    ["labels", { labels: { matchLabels: { app: "web" } } }, true],
    ["other labels", { labels: { matchLabels: { app: "db" } } }, false],
    ["fields", { fields: { "spec.nodeName": "n", "spec.hostNetwork": false, "spec.priority": 0 } }, true],
    ["one other field", { fields: { "spec.nodeName": "n", "spec.priority": 1 } }, false],
    ["a number as text", { fields: { "spec.priority": "0" } }, false],
    ["an absent field", { fields: { "spec.schedulerName": "x" } }, false],
    ["an empty text for an absent field", { fields: { "spec.schedulerName": "", "status.phase": "" } }, true],
    ["an inherited property", { fields: { "spec.constructor.name": "Object" } }, false],
    ["a function", { where: ({ metadata }) => metadata.name === "a" }, true],
    ["all of them", { labels: { matchLabels: { app: "web" } }, where: () => false }, false],
  ])("%s", (_, filters, expected) => {
    expect(isSelected(watch(filters), pod({}, { labels: { app: "web" } }))).toBe(expected);
  });

  test("an object without labels matches a selector for absent labels", () => {
    const absent = { matchExpressions: [{ key: "app", operator: "DoesNotExist" as const }] };
    expect(isSelected(watch({ labels: absent }), pod())).toBe(true);
  });
});

describe("projections", () => {
  const of = (changed: Watch["changed"] | undefined, object: Stored) =>
    projectionOf(watch(changed && { changed }), object);

  test("differ exactly when the projected part differs", () => {
    const before = pod({ status: { phase: "Pending" } }, { generation: 1, labels: { a: "1", b: "2" } });
    const after = pod({ status: { phase: "Running" } }, { generation: 1, labels: { b: "2", a: "1" } });
    expect(of(generation, after)).toBe(of(generation, before));
    expect(of(labels, after)).toBe(of(labels, before));
    expect(of(annotations, after)).toBe(of(annotations, before));
    expect(of(({ status }) => status, after)).not.toBe(of(({ status }) => status, before));
    expect(of(generation, pod({}, { generation: 2 }))).not.toBe(of(generation, before));
    expect(of(labels, pod({}, { labels: { a: "1" } }))).not.toBe(of(labels, before));
    expect(of(annotations, pod({}, { annotations: { a: "1" } }))).not.toBe(of(annotations, before));
  });

  test("generation counts versions for kinds without a generation, and without a projection all versions differ", () => {
    for (const changed of [generation, undefined])
      expect(of(changed, pod({}, { resourceVersion: "8" }))).not.toBe(of(changed, pod()));
  });

  test("an undefined value is a value", () => {
    expect(of(() => undefined, pod())).toMatch(/^[0-9a-f]{32}$/);
  });

  test.each([
    ["a promise", async () => 1],
    ["a Map", () => new Map([["a", 1]])],
    ["a Set", () => new Set([1])],
    ["a function", () => () => 1],
  ])("rejects %s, whose changes JSON would hide", (_, changed) => {
    expect(() => of(changed, pod())).toThrow("changed of the watch of Pod must return a JSON value");
  });
});

const Partial1 = externalKind({
  ...{ group: "test.denrei.dev", version: "v1", kind: "Part", plural: "parts" },
  fields: ["spec", "status.phase"],
});

test.each<[string, Watch, RegExp]>([
  [
    "a field of a ConfigMap's data",
    watch({ kind: ConfigMap, fields: { "data.a": "b" } }),
    /watch of ConfigMap cannot filter by data.a, which is never on the bus: only metadata of the kind/,
  ],
  [
    "a projection of a ConfigMap's data",
    watch({ kind: ConfigMap, changed: (object) => (object as { data?: object }).data }),
    /ConfigMap cannot filter by data,/,
  ],
  [
    "a function on a Secret's type",
    watch({
      kind: Secret,
      where: (object) => "type" in object.metadata || (object as { type?: string }).type === "x",
    }),
    /Secret cannot filter by type,/,
  ],
  [
    "annotations of a ConfigMap, without declared ones",
    watch({ kind: ConfigMap, changed: annotations }),
    /by metadata.annotations, .* Declare the annotations that the function reads/,
  ],
  [
    "a field that the kind does not publish",
    watch({ kind: Partial1, fields: { "status.message": "x" } }),
    /by status.message, .*: only spec, status.phase of the kind/,
  ],
  ["a rate of zero", watch({ perSecond: 0 }), /perSecond of the watch of Pod must be above 0, found 0/],
])("rejects a declaration with %s", (_, declaration, message) => {
  expect(() => declared([declaration])).toThrow(message);
});

test("accepts filters by published parts, and code that fails on an object without content", () => {
  declared([
    watch({ kind: ConfigMap, fields: { "metadata.name": "a" }, changed: labels }),
    watch({ kind: Partial1, fields: { "spec.a.b": "x", "status.phase": "y" } }),
    watch({ changed: (object) => (object.status as { phase: string }).phase.length }),
  ]);
  declared([watch({ kind: ConfigMap, changed: annotations })], ["example.com/owner"]);
});

test("numbers filtered watches of one kind", () => {
  const watches = [
    watch(),
    watch({ changed: labels }),
    watch({ kind: Secret, changed: labels }),
    watch({ labels: {} }),
  ];
  expect(filteredWatches(watches).map(({ watch, ordinal }) => [watches.indexOf(watch), ordinal])).toEqual([
    [1, 0],
    [2, 0],
    [3, 1],
  ]);
});

test("other selectors make another router, and other code only another declaration", () => {
  const router = (filters: Partial<Watch>) =>
    consumers.router(subscriptionOf(declared([watch(filters)]), "default"));
  const selector = { labels: { matchLabels: { app: "web" } } };
  expect(router(selector)).not.toBe(router({}));
  expect(router(selector)).not.toBe(router({ labels: { matchLabels: { app: "db" } } }));
  expect(router(selector)).not.toBe(router({ ...selector, fields: { "spec.nodeName": "a" } }));
  expect(router({ ...selector, changed: generation })).toBe(router({ ...selector, changed: labels }));
  const declarations = [selector, { ...selector, changed: generation }, { ...selector, changed: labels }];
  expect(new Set(declarations.map((filters) => declarationOf(watch(filters)))).size).toBe(3);
});
