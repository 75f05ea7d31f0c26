import { expect, test } from "vitest";
import type { KubeClient } from "../kube/client.ts";
import { externalKind } from "../kube/kind.ts";
import { controllerReference, type KubeObject, type Stored } from "../kube/object.ts";
import type { Entry, ObjectStore } from "../objects/store.ts";
import { newRequest } from "../queue/request.ts";
import type { Written } from "./echoes.ts";
import { ownWrites, type WritesOfKey } from "./ownwrites.ts";
import { type ReadSources, reconcileReads } from "./reads.ts";

const Child = externalKind<KubeObject>({
  group: "example.com",
  version: "v1",
  kind: "Child",
  plural: "children",
});
const key = { namespace: "default", name: "owner" };
const owner = {
  apiVersion: "example.com/v1",
  kind: "Owner",
  metadata: { ...key, uid: "owner", resourceVersion: "1" },
} as Stored;
const child = (uid: string, resourceVersion: string) =>
  ({
    apiVersion: "example.com/v1",
    kind: "Child",
    metadata: { ...key, name: "child", uid, resourceVersion, ownerReferences: [controllerReference(owner)] },
  }) as Stored;

/** Reads a child by name, after this process wrote `written` and while the store has `stored` or its tombstone. */
async function objectWith(written: Stored, stored: Stored, state: "living" | "deleted"): Promise<string> {
  const { uid, resourceVersion } = stored.metadata;
  const entry = { object: stored, uid, resourceVersion, deleted: state === "deleted" } as Entry;
  const own = ownWrites().of(key);
  own.record(written);
  const store = { entry: async () => entry } as unknown as ObjectStore;
  const reads = reconcileReads(sourcesOf(store, own));
  const found = await reads.get(Child, { ...key, name: "child" });
  return found ? `${found.metadata.uid} ${found.metadata.resourceVersion}` : "none";
}

test("get - ignores an own write once the store has a later object of that name, or its tombstone", async () => {
  expect(await objectWith(child("a", "5"), child("b", "8"), "living")).toBe("b 8");
  expect(await objectWith(child("a", "5"), child("b", "8"), "deleted")).toBe("none");
  expect(await objectWith(child("a", "5"), child("a", "8"), "deleted")).toBe("none");
});

test("get - returns an object that this process recreated while the store has only the old tombstone", async () => {
  expect(await objectWith(child("b", "8"), child("a", "5"), "deleted")).toBe("b 8");
});

test.each([
  ["is older than the version that caused the reconcile", {}, ["9", "9", "5", "7"]],
  ["may have the version that a correction is for", { correction: true as const }, ["9", "9", "9", "7"]],
])("get - reads from the API server while the store %s", async (_, more, expected) => {
  const at = { ...key, name: "child" };
  const { group, kind } = Child;
  const change = { group, kind, ...at, uid: "a", resourceVersion: "5", ...more };
  const request = newRequest({ type: "object", ...change });
  const readWith = async (version?: string): Promise<string | undefined> => {
    const entry = version && { object: child("a", version), uid: "a", resourceVersion: version };
    const store = { entry: async () => entry || undefined } as unknown as ObjectStore;
    const sources = sourcesOf(store, ownWrites().of(key), child("a", "9"));
    const reads = reconcileReads({ ...sources, written: [], request });
    return (await reads.get(Child, at))?.metadata.resourceVersion;
  };
  expect(await Promise.all([undefined, "4", "5", "7"].map(readWith))).toEqual(expected);
});

/** Reads children after this process wrote `ours` and another replica wrote `theirs`, while the store has `stored`. */
async function childrenWith(
  ours: Stored | undefined,
  stored: readonly Stored[],
  theirs?: Stored,
): Promise<string[]> {
  const entries = stored.map((object) => ({
    object,
    uid: object.metadata.uid,
    resourceVersion: object.metadata.resourceVersion,
  })) as Entry[];
  const own = ownWrites().of(key);
  if (ours !== undefined) own.record(ours);
  const store = { childEntries: async () => entries } as unknown as ObjectStore;
  const found = await reconcileReads(sourcesOf(store, own, theirs)).children(Child, owner);
  return found.map(({ metadata: { uid, resourceVersion } }) => `${uid} ${resourceVersion}`);
}

/** Sources in which another replica has just written `theirs` to the API server. */
function sourcesOf(store: ObjectStore, own: WritesOfKey, theirs?: Stored): ReadSources {
  const { group, kind } = Child;
  const writtenBy = ({ metadata: { name, uid, resourceVersion } }: Stored): Written => ({
    ...{ group, kind, namespace: key.namespace, name },
    ...{ uid, resourceVersion },
  });
  return {
    store,
    own,
    written: theirs === undefined ? [] : [writtenBy(theirs)],
    client: { get: async () => theirs } as unknown as KubeClient,
    request: newRequest({ type: "timer" }),
    seen: new Map(),
    signal: new AbortController().signal,
  };
}

test("children - include own writes before the store has them, in the newest version", async () => {
  expect(await childrenWith(child("a", "5"), [])).toEqual(["a 5"]);
  expect(await childrenWith(child("a", "5"), [child("a", "4")])).toEqual(["a 5"]);
  expect(await childrenWith(child("a", "5"), [child("a", "6")])).toEqual(["a 6"]);
});

test("children - contain an object that another client recreated only once", async () => {
  expect(await childrenWith(child("a", "5"), [child("b", "8")])).toEqual(["b 8"]);
});

test("children - read writes of another replica from the API server until the store has them", async () => {
  expect(await childrenWith(undefined, [], child("a", "5"))).toEqual(["a 5"]);
  expect(await childrenWith(undefined, [child("a", "4")], child("a", "5"))).toEqual(["a 5"]);
  expect(await childrenWith(child("a", "5"), [child("a", "4")], child("a", "6"))).toEqual(["a 6"]);
  expect(await childrenWith(undefined, [child("a", "7")], child("a", "5"))).toEqual(["a 7"]);
});

/** Lists the namespace after this process wrote `ours` and another replica wrote `theirs`, while the store has `stored`. */
async function listWith(
  ours: Stored | undefined,
  stored: readonly (readonly [Stored, "living" | "deleted"])[],
  theirs?: Stored,
): Promise<string[]> {
  const entries = stored.map(([object, state]) => ({
    object,
    uid: object.metadata.uid,
    resourceVersion: object.metadata.resourceVersion,
    deleted: state === "deleted",
  })) as Entry[];
  const own = ownWrites().of(key);
  if (ours !== undefined) own.record(ours);
  const store = { entries: async () => entries } as unknown as ObjectStore;
  const found = await reconcileReads(sourcesOf(store, own, theirs)).list(Child, key);
  return found.map(({ metadata: { uid, resourceVersion } }) => `${uid} ${resourceVersion}`);
}

test("list - includes writes of this process and of other replicas before the store has them", async () => {
  expect(await listWith(child("a", "5"), [])).toEqual(["a 5"]);
  expect(await listWith(child("a", "5"), [[child("a", "4"), "living"]])).toEqual(["a 5"]);
  expect(await listWith(undefined, [[child("a", "4"), "living"]], child("a", "5"))).toEqual(["a 5"]);
  expect(await listWith(undefined, [], child("a", "5"))).toEqual(["a 5"]);
});

test("list - contains an object with a new controller once, and no deleted object", async () => {
  const moved = [
    [child("a", "5"), "deleted"],
    [child("a", "5"), "living"],
  ] as const;
  expect(await listWith(undefined, moved)).toEqual(["a 5"]);
  expect(await listWith(undefined, [[child("a", "5"), "deleted"]])).toEqual([]);
});

/** An object in a namespace that is not a child. */
function objectIn(namespace: string, uid: string, labels: Record<string, string> = {}): Stored {
  const { ownerReferences: _, ...metadata } = child(uid, "5").metadata;
  return { ...child(uid, "5"), metadata: { ...metadata, namespace, labels } };
}

const entryOf = (object: Stored) =>
  ({ object, uid: object.metadata.uid, resourceVersion: object.metadata.resourceVersion }) as Entry;

/** Reads after this process wrote `ours`, while the store has `stored`, whatever is read. */
function readsWith(stored: readonly Stored[], ours: readonly Stored[] = [], theirs?: Stored) {
  const own = ownWrites().of(key);
  for (const object of ours) own.record(object);
  const store = {
    entries: async (_: unknown, namespace?: string) =>
      stored
        .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
        .map(entryOf),
    entry: async (_: unknown, at: { namespace: string; name: string }) =>
      stored
        .filter(({ metadata }) => metadata.namespace === at.namespace && metadata.name === at.name)
        .map(entryOf)[0],
  } as unknown as ObjectStore;
  return reconcileReads(sourcesOf(store, own, theirs));
}
const uids = (objects: readonly Stored[]) => objects.map(({ metadata }) => metadata.uid).sort();

test("list - of all namespaces has the objects of one name in each, and own writes before the store has them", async () => {
  const [a, b, c] = ["a", "b", "c"].map((name) => objectIn(name, name)) as [Stored, Stored, Stored];
  expect(uids(await readsWith([a, b], [c]).list(Child, { namespace: undefined }))).toEqual(["a", "b", "c"]);
  expect(uids(await readsWith([a, b], [c]).list(Child, { namespace: "c" }))).toEqual(["c"]);
});

test("list - finds another replica's write in one namespace after it was absent in another", async () => {
  const theirs = objectIn(key.namespace, "x");
  const reads = readsWith([], [], theirs);
  expect(uids(await reads.list(Child, { namespace: "other" }))).toEqual([]);
  expect(uids(await reads.list(Child, { namespace: key.namespace }))).toEqual(["x"]);
  expect(uids(await reads.list(Child, { namespace: undefined }))).toEqual(["x"]);
});

test("list - selects by labels, also an own write", async () => {
  const [web, db] = [objectIn("a", "a", { app: "web" }), objectIn("b", "b", { app: "db" })];
  const reads = readsWith([web, db], [objectIn("c", "c", { app: "web" })]);
  const labels = { matchLabels: { app: "web" } };
  expect(uids(await reads.list(Child, { namespace: undefined, labels }))).toEqual(["a", "c"]);
});

test("live list - passes the labels to the API server", async () => {
  const lists: unknown[] = [];
  const client = {
    list: async (...given: unknown[]) => {
      lists.push(given.slice(1, 3));
      return { items: [{ metadata: child("a", "5").metadata }] };
    },
  } as unknown as KubeClient;
  const reads = reconcileReads({ ...sourcesOf({} as ObjectStore, ownWrites().of(key)), client });
  const found = await reads.liveList(Child, {
    namespace: undefined,
    labels: { matchLabels: { app: "web" } },
  });
  // Items of a list arrive without their type.
  expect(found).toEqual([child("a", "5")]);
  await reads.liveList(Child, { namespace: "a" });
  expect(lists).toEqual([
    [undefined, { labelSelector: "app in (web)" }],
    ["a", { labelSelector: undefined }],
  ]);
});

test("get - does not return an own write of the same name in another namespace", async () => {
  const reads = readsWith([], [objectIn("a", "a")]);
  expect(await reads.get(Child, { namespace: "b", name: "child" })).toBeUndefined();
  expect((await reads.get(Child, { namespace: "a", name: "child" }))?.metadata.uid).toBe("a");
});

test("children - outside of their owner's namespace are found by their label", async () => {
  const Outside = externalKind({ ...Child, scope: "Cluster" });
  const labels = { "denrei.dev/owner-uid": "owner" };
  const reads = readsWith([objectIn("", "a", labels), objectIn("", "b")]);
  expect(uids(await reads.children(Outside, owner))).toEqual(["a"]);
});

test("seen - an object of any namespace that a list of all namespaces did not find counts as unseen", async () => {
  const sources = sourcesOf({ entries: async () => [] } as unknown as ObjectStore, ownWrites().of(key));
  const reads = reconcileReads({ ...sources, client: { get: async () => objectIn("a", "a") } as never });
  await reads.list(Child, { namespace: undefined });
  await reads.live(Child, { namespace: "a", name: "child" });
  expect(Object.fromEntries(sources.seen)).toEqual({});
});

test("seen - a newer version of the object in a list does not count as seen", async () => {
  const [old, changed, other] = [child("a", "5"), child("a", "8"), child("b", "7")];
  other.metadata.name = "other";
  const entry = { object: old, uid: "a", resourceVersion: "5" } as Entry;
  const client = {
    list: async () => ({ items: [changed, other] }),
    get: async () => changed,
  } as unknown as KubeClient;
  const entries = [
    { ...entry, object: changed, resourceVersion: "8" },
    { ...entry, object: other, uid: "b", resourceVersion: "7" },
  ];
  const store = { entries: async () => entries };
  const sources = { ...sourcesOf(store as unknown as ObjectStore, ownWrites().of(key)), client };
  const reads = reconcileReads(sources);
  const at = { ...key, name: "child" };
  await reads.first(Child, at, Promise.resolve({ entry, family: undefined }));
  await reads.liveList(Child, key);
  await reads.list(Child, key);
  await reads.live(Child, at);
  expect(Object.fromEntries(sources.seen)).toEqual({ a: "5", b: "7" });
  expect(reads.wrote("a", "9", "8")).toBe("overtaken");
  expect(sources.seen.get("a")).toBe("5");
  for (const [version, over] of [
    ["10", "5"],
    ["11", "10"],
    ["12", undefined],
  ] as const) {
    expect(reads.wrote("a", version, over)).toBe("seen");
    expect(sources.seen.get("a")).toBe(version);
  }
});

test("seen - the version of a child in the first read counts, even after a newer read by name", async () => {
  const self = { ...owner, metadata: { ...owner.metadata, uid: "owner" } };
  for (const along of [[child("a", "5")], []]) {
    const store = { entry: async () => entryOf(child("a", "8")) } as unknown as ObjectStore;
    const sources = sourcesOf(store, ownWrites().of(key));
    const reads = reconcileReads(sources);
    const family = { owner: "owner", children: along.map(entryOf) };
    await reads.first(Child, key, Promise.resolve({ entry: entryOf(self), family }));
    await reads.get(Child, { ...key, name: "child" });
    await reads.children(Child, self);
    const versions = along.map(({ metadata }) => ["a", metadata.resourceVersion]);
    expect(Object.fromEntries(sources.seen)).toEqual({ owner: "1", ...Object.fromEntries(versions) });
  }
});
