import { expect, test } from "vitest";
import { externalKind } from "../kube/kind.ts";
import { controllerReference, type KubeObject, type Stored } from "../kube/object.ts";
import type { Entry, ObjectStore } from "../objects/store.ts";
import { newRequest } from "../queue/request.ts";
import { ownWrites } from "./ownwrites.ts";
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

/** What a worker reads by name that wrote `written` a moment ago, when the store has `stored`, or what is left of it. */
async function objectWith(written: Stored, stored: Stored, state: "living" | "deleted"): Promise<string> {
  const { uid, resourceVersion } = stored.metadata;
  const entry = { object: stored, uid, resourceVersion, deleted: state === "deleted" } as Entry;
  const own = ownWrites().of(key);
  own.record(written);
  const store = { entry: async () => entry } as unknown as ObjectStore;
  const request = newRequest({ type: "timer" });
  const sources = { store, own, request, seen: new Map(), signal: new AbortController().signal };
  const reads = reconcileReads(sources as unknown as ReadSources);
  const found = await reads.get(Child, { ...key, name: "child" });
  return found ? `${found.metadata.uid} ${found.metadata.resourceVersion}` : "none";
}

test("an object that this process has written is not read any more when another one of its name is there, or was", async () => {
  expect(await objectWith(child("a", "5"), child("b", "8"), "living")).toBe("b 8");
  expect(await objectWith(child("a", "5"), child("b", "8"), "deleted")).toBe("none");
  expect(await objectWith(child("a", "5"), child("a", "8"), "deleted")).toBe("none");
});

test("an object that this process has made anew is read before the store knows more than that the last one is gone", async () => {
  expect(await objectWith(child("b", "8"), child("a", "5"), "deleted")).toBe("b 8");
});

/** What a worker reads that wrote `written` a moment ago, when the store has `stored`. */
async function childrenWith(written: Stored, stored: readonly Stored[]): Promise<string[]> {
  const entries = stored.map((object) => ({
    object,
    uid: object.metadata.uid,
    resourceVersion: object.metadata.resourceVersion,
  })) as Entry[];
  const own = ownWrites().of(key);
  own.record(written);
  const store = { childEntries: async () => entries } as unknown as ObjectStore;
  const request = newRequest({ type: "timer" });
  const sources = { store, own, request, seen: new Map(), signal: new AbortController().signal };
  const found = await reconcileReads(sources as unknown as ReadSources).children(Child, owner);
  return found.map(({ metadata: { uid, resourceVersion } }) => `${uid} ${resourceVersion}`);
}

test("children - what this process has written is there before the store has it, in its newest version", async () => {
  expect(await childrenWith(child("a", "5"), [])).toEqual(["a 5"]);
  expect(await childrenWith(child("a", "5"), [child("a", "4")])).toEqual(["a 5"]);
  expect(await childrenWith(child("a", "5"), [child("a", "6")])).toEqual(["a 6"]);
});

test("children - what others have deleted and made anew is not there twice", async () => {
  expect(await childrenWith(child("a", "5"), [child("b", "8")])).toEqual(["b 8"]);
});
