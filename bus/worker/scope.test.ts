import { expect, test } from "vitest";
import { ConfigMap, Namespace, Pod } from "../kube/kind.ts";
import type { Stored } from "../kube/object.ts";
import { ClusterRole } from "../kube/rbac.ts";
import type { ObjectKey } from "../subjects.ts";
import { keyOf, namespaceOfChild, requestedKey, selectionOf } from "./scope.ts";

const ownerIn = (namespace?: string): Stored => ({
  apiVersion: "example.com/v1",
  kind: "Owner",
  metadata: { name: "one", uid: "u", resourceVersion: "1", ...(namespace && { namespace }) },
  spec: {},
});

test("get - a cluster-scoped kind has no namespace, and a namespaced one needs it", () => {
  expect(keyOf(Namespace, "a", "default")).toEqual({ namespace: "", name: "a" });
  expect(keyOf(ConfigMap, "a", "default")).toEqual({ namespace: "default", name: "a" });
  expect(() => keyOf(ConfigMap, "a", "")).toThrow("the namespace of the ConfigMap a, found none");
});

test("request - a cluster-scoped kind has no namespace, and a namespaced one needs it", () => {
  expect(requestedKey(Namespace, { namespace: "default", name: "a" })).toEqual({ namespace: "", name: "a" });
  expect(requestedKey(ConfigMap, { namespace: "b", name: "a" })).toEqual({ namespace: "b", name: "a" });
});

test.each([
  [{ namespace: "", name: "a" }, 'the namespace of the ConfigMap a in its key, found ""'],
  [{ name: "a" }, "the namespace of the ConfigMap a in its key, found undefined"],
  [{ namespace: "b" }, "the name of a ConfigMap in a key, found undefined"],
  [{ namespace: "b", name: "c/a" }, 'the name of a ConfigMap in a key, found "c/a"'],
])("request - rejects the key %j of a ConfigMap", (key, message) => {
  expect(() => requestedKey(ConfigMap, key as ObjectKey)).toThrow(message);
});

test("list - selects the own namespace, another one, or all", () => {
  expect(selectionOf(Pod, {}, "own")).toEqual({ namespace: "own" });
  expect(selectionOf(Pod, { namespace: "other" }, "own")).toEqual({ namespace: "other" });
  expect(selectionOf(Pod, { allNamespaces: false }, "own")).toEqual({ namespace: "own" });
  expect(selectionOf(Pod, { allNamespaces: true }, "own")).toEqual({ namespace: undefined });
  for (const options of [{}, { namespace: "other" }, { allNamespaces: true }])
    expect(selectionOf(ClusterRole, options, "own")).toEqual({ namespace: "" });
});

test("list - passes labels on in either form, and rejects invalid ones", () => {
  const matchExpressions = [{ key: "app", operator: "In", values: ["web"] }] as const;
  expect(selectionOf(Pod, { labels: "app=web" }, "own").labels).toEqual({ matchExpressions });
  expect(selectionOf(Pod, { labels: { matchLabels: { app: "web" } } }, "own").labels).toEqual({
    matchLabels: { app: "web" },
  });
  expect(() => selectionOf(Pod, { labels: "app>web" }, "own")).toThrow("invalid label selector");
});

test.each([
  [{}, "", "a namespace for a list of Pod, found none"],
  [{ namespace: "" }, "own", "a namespace for a list of Pod, found none"],
  [{ namespace: "a", allNamespaces: true }, "own", "found both"],
])("list - rejects the options %j in the namespace %j", (options, own, message) => {
  expect(() => selectionOf(Pod, options, own)).toThrow(message);
});

test("child - is in its owner's namespace, or in the given one if the owner is cluster-scoped", () => {
  expect(namespaceOfChild(ConfigMap, { name: "a" }, ownerIn("own"))).toBe("own");
  expect(namespaceOfChild(ConfigMap, { name: "a", namespace: "own" }, ownerIn("own"))).toBe("own");
  expect(namespaceOfChild(ConfigMap, { name: "a", namespace: "other" }, ownerIn())).toBe("other");
  for (const owner of [ownerIn(), ownerIn("own")])
    expect(namespaceOfChild(ClusterRole, { name: "a" }, owner)).toBeUndefined();
});

test.each([
  [ConfigMap, undefined, ownerIn(), 'child ConfigMap a of Owner one, found none.*namespace: "…"'],
  [ConfigMap, "", ownerIn(), "child ConfigMap a of Owner one, found none"],
  [ConfigMap, "other", ownerIn("own"), 'in the namespace "own" of its owner, found "other"'],
  [ClusterRole, "own", ownerIn("own"), 'no metadata.namespace in the child ClusterRole a.*found "own"'],
])("child - rejects %o in the namespace %j", (kind, namespace, owner, message) => {
  expect(() => namespaceOfChild(kind, { name: "a", namespace }, owner)).toThrow(new RegExp(message));
});
