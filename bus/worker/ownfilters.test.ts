import { describe, expect, test } from "vitest";
import { ConfigMap, externalKind, Pod } from "../kube/kind.ts";
import type { KubeObject, Stored } from "../kube/object.ts";
import type { WatchRecord } from "../objects/watchrecords.ts";
import { consumers, keyText } from "../subjects.ts";
import { defineFunction, type FunctionOptions, subscriptionOf } from "./function.ts";
import type { ObjectEvent } from "./objectevent.ts";
import { isReconciled } from "./ownfilters.ts";
import { enqueueRequestsOf } from "./router.ts";
import { declarationOf, type Filter, generation, projectionOf } from "./watch.ts";

const Thing = externalKind({ group: "test.denrei.dev", version: "v1", kind: "Thing", plural: "things" });
type Declaration = Partial<FunctionOptions<KubeObject>>;
const declared = (declaration: Declaration = {}) =>
  defineFunction({
    ...{ name: "things", for: Thing, ...declaration },
    reconcile: async () => undefined,
    finalize: async () => undefined,
  });
const shard: Filter = { labels: { matchLabels: { shard: "a" } } };

const stored = (kind: string, metadata: object = {}): Stored => ({
  ...{ apiVersion: "test.denrei.dev/v1", kind, spec: {} },
  metadata: { namespace: "default", name: "one", uid: "u", resourceVersion: "11", ...metadata },
});
const thing = (metadata?: object) => stored("Thing", metadata);
const inShard = { labels: { shard: "a" } };
const deleting = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["denrei.dev/things"] };

/** What a version of an object requests. `record` is the one of the version before. */
async function requestsOf(
  declaration: Declaration,
  object: Stored,
  { deleted = false, record }: { deleted?: boolean; record?: WatchRecord } = {},
): Promise<string[]> {
  const [group, owner] = object.kind === "Thing" ? ["test.denrei.dev", ""] : ["", "owner-uid"];
  const { name, namespace = "", uid, resourceVersion } = object.metadata;
  const event: ObjectEvent = {
    at: { group, kind: object.kind, namespace, name, owner },
    ...{ uid, resourceVersion, deleted, partial: false, correction: false, traceparent: undefined },
    ...{ sequence: 6, previous: 5, object: () => object },
  };
  const { requests } = await enqueueRequestsOf(declared(declaration), event, {
    indexes: { keep: async () => undefined, find: async () => [] },
    records: { read: async () => ({ record, revision: record === undefined ? 0 : 3 }) },
    live: () => Promise.reject(new Error("the event has the whole object")),
    onInvalidKey(error) {
      throw error;
    },
  });
  return requests.map(({ key }) => keyText(key));
}

const itself = ["default/one"];

describe("a filter of the reconciled objects", () => {
  test.each<[string, object, boolean]>([
    ["an object that matches", inShard, true],
    ["another object", { labels: { shard: "b" } }, false],
    ["another object that waits for the finalizer", { labels: { shard: "b" }, ...deleting }, true],
    [
      "another object that has the finalizer, and is not being deleted",
      { ...deleting, deletionTimestamp: undefined },
      false,
    ],
    [
      "another object that waits for another finalizer",
      { ...deleting, finalizers: ["denrei.dev/other"] },
      false,
    ],
  ])("%s", async (_, metadata, expected) => {
    expect(await requestsOf({ filter: shard }, thing(metadata))).toEqual(expected ? itself : []);
    expect(isReconciled(declared({ filter: shard }), thing(metadata))).toBe(expected);
  });

  test("requests every deleted object once more, because it may have left timers", async () => {
    expect(await requestsOf({ filter: shard }, thing(), { deleted: true })).toEqual(itself);
  });

  test("makes another router if its selectors or its code differ, and none without a filter", () => {
    const router = (filter?: Filter) =>
      consumers.router(subscriptionOf(declared(filter && { filter }), "default"));
    const byName: Filter = { where: ({ metadata }) => metadata.name === "one" };
    const byUid: Filter = { where: ({ metadata }) => metadata.uid === "u" };
    expect(new Set([router(), router(shard), router(byName), router(byUid)]).size).toBe(4);
    expect(router({ ...shard, changed: generation })).toBe(router({ ...shard, changed: () => 1 }));
  });
});

describe("a projection of the reconciled objects", () => {
  const filter: Filter = { changed: generation };
  const recordOf = (object: Stored): WatchRecord => ({
    ...{ declaration: declarationOf(filter), sequence: 5, resourceVersion: "10" },
    ...{ keys: [{ namespace: "default", name: "one" }] },
    projection: projectionOf({ kind: Thing, keys: () => [], ...filter }, object),
  });
  const record = recordOf(thing({ generation: 1 }));

  test("requests first versions and changes of the projection", async () => {
    expect(await requestsOf({ filter }, thing({ generation: 1 }))).toEqual(itself);
    expect(await requestsOf({ filter }, thing({ generation: 1 }), { record })).toEqual([]);
    expect(await requestsOf({ filter }, thing({ generation: 2 }), { record })).toEqual(itself);
  });

  test("requests every version of an object that waits for the finalizer", async () => {
    const object = thing({ generation: 1, ...deleting });
    expect(await requestsOf({ filter }, object, { record: recordOf(object) })).toEqual(itself);
  });
});

describe("a filter of children", () => {
  const child = (metadata: object = {}) =>
    stored("ConfigMap", {
      ...{ name: "child", ...metadata },
      ownerReferences: [
        { apiVersion: "test.denrei.dev/v1", kind: "Thing", name: "one", uid: "owner-uid", controller: true },
      ],
    });
  const owned = { kind: ConfigMap, changed: ({ metadata }: Stored) => metadata.labels ?? {} };
  const record: WatchRecord = {
    ...{ declaration: declarationOf(owned), sequence: 5, resourceVersion: "10", keys: [] },
    projection: projectionOf({ ...owned, keys: () => [] }, child()),
  };

  test("requests the owner when a child appears, changes in the projection, or is deleted", async () => {
    const owns = [owned];
    expect(await requestsOf({ owns }, child())).toEqual(itself);
    expect(await requestsOf({ owns }, child(), { record })).toEqual([]);
    expect(await requestsOf({ owns }, child({ labels: { a: "b" } }), { record })).toEqual(itself);
    expect(await requestsOf({ owns }, child(), { record, deleted: true })).toEqual(itself);
  });

  test("does not hide a child of a kind without a filter", async () => {
    expect(await requestsOf({ owns: [{ kind: ConfigMap }] }, child(), { record })).toEqual(itself);
  });
});

test("numbers the records of watches first, so that a filter of the objects does not renumber them", () => {
  const watch = { kind: Thing, changed: generation, keys: () => [] };
  const filters = (declaration: Declaration) => subscriptionOf(declared(declaration), "default").filters?.[0];
  expect(filters({ watches: [watch], filter: { changed: generation } })).toBe(filters({ watches: [watch] }));
});

test.each<[string, Declaration]>([
  ["objects", { for: ConfigMap, filter: { fields: { "data.a": "b" } } }],
  ["children", { owns: [{ kind: ConfigMap, changed: (object) => (object as { data?: object }).data }] }],
])("rejects a filter of %s by a part that is never on the bus", (_, declaration) => {
  expect(() => declared({ for: Pod, ...declaration })).toThrow(/ConfigMap cannot filter by data/);
});
