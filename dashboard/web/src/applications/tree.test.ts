import type { Application } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { expect, test } from "vitest";
import type { PodObject } from "../api/kubernetes.ts";
import type { TreeNode } from "../ui/tree/node.ts";
import { childrenOf, childSelections } from "./children.ts";
import { treeOf } from "./tree.ts";

const entry = (apiVersion: string, kind: string, name: string) => ({ apiVersion, kind, name });
const entries = [
  entry("apps/v1", "Deployment", "web"),
  entry("v1", "Service", "web"),
  entry("networking.k8s.io/v1", "Ingress", "web"),
];
const owned = (
  apiVersion: string,
  kind: string,
  name: string,
  by: [kind: string, name: string, uid: string],
) => {
  const [ownerKind, ownerName, uid] = by;
  const owner = { apiVersion: "v1", kind: ownerKind, name: ownerName, uid, controller: true };
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace: "team",
      uid: `uid of ${kind} ${name}`,
      resourceVersion: "1",
      labels: { "pod-template-hash": "abc" },
      ownerReferences: [owner],
    },
    spec: {},
  };
};

const app: Stored<Application> = {
  apiVersion: "modoki.tsuzu.dev/v1alpha1",
  kind: "Application",
  metadata: { name: "web", namespace: "team", uid: "app", resourceVersion: "1" },
  spec: { domains: [], replicas: 1 },
  status: { resources: entries },
};
const deployment = owned("apps/v1", "Deployment", "web", ["Application", "web", "app"]);
const pod: Stored<PodObject> = {
  ...owned("v1", "Pod", "web-abc-1", ["ReplicaSet", "web-abc", "rs"]),
  spec: { containers: [{ name: "main" }] },
};

const outline = ({ kind, name, health, note, children = [] }: TreeNode): unknown => [
  [kind, name, health?.[1], note].filter((part) => part !== undefined).join(" "),
  ...children.map(outline),
];

const tree = (watched: Parameters<typeof childrenOf>[1], pods: readonly Stored<PodObject>[] = [pod]) =>
  outline(treeOf(app, { builds: [], children: childrenOf(app, watched), pods }));

test("the page watches the objects that it may read, each by the name of the Application", () => {
  const scope = { namespace: "team", fieldSelector: "metadata.name=web" };
  expect(childSelections("team", "web").map(([resource, of]) => [resource.kind, of])).toEqual([
    ["Deployment", scope],
    ["StatefulSet", scope],
    ["Service", scope],
  ]);
});

test("an object with another name is only named", () => {
  const resources = [entry("apps/v1", "Deployment", "web-worker")];
  const other = { ...app, status: { resources } };
  const [child] = childrenOf(other, [{ state: "live", items: [], asOf: 1 }]);
  expect(child).toEqual({ entry: resources[0], watched: undefined, object: undefined });
});

test("pods are below their Deployment, and other objects are only named", () => {
  const lists = [
    { state: "live", items: [deployment], asOf: 1 },
    { state: "live", items: [], asOf: 1 },
    { state: "refused", items: [] },
  ] as unknown as Parameters<typeof childrenOf>[1];
  expect(tree(lists)).toEqual([
    "Application web Waiting",
    ["Deployment web Rolling out 0/1 available", ["Pod web-abc-1 Pending"]],
    ["Service web You cannot view the Service here."],
    ["Ingress web"],
  ]);
});

test("only a current list proves that an object is missing", () => {
  const of = (list: object) => (tree([{ items: [], ...list }] as never, []) as unknown[])[1];
  expect(of({ state: "live", asOf: 1 })).toEqual(["Deployment web Missing"]);
  expect(of({ state: "away", asOf: 1 })).toEqual(["Deployment web Not in the last known state"]);
  expect(of({ state: "loading" })).toEqual(["Deployment web Not loaded yet"]);
  // An object of the same name that the Application does not control.
  const foreign = owned("apps/v1", "Deployment", "web", ["Application", "other", "other"]);
  expect(of({ state: "live", asOf: 1, items: [foreign] })).toEqual(["Deployment web Missing"]);
});

test("pods without a listed workload stay visible", () => {
  const orphan = owned("v1", "Pod", "old-abc-1", ["ReplicaSet", "old-abc", "rs"]);
  expect(tree([], [orphan])).toContainEqual(["Pod old-abc-1 Pending"]);
});
