import { expect, test } from "vitest";
import { z } from "zod";
import { ConfigMap, defineKind, externalKind, type Kind, Secret } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { defineFunction, type FunctionOptions } from "./function.ts";
import { bridgeRules, workerRules } from "./rbac.ts";

const Thing: Kind = defineKind({
  ...{ group: "example.com", version: "v1", kind: "Thing", description: "" },
  spec: z.object({}),
});
const declare = (options: Partial<FunctionOptions<KubeObject>>) =>
  defineFunction({ name: "thing", for: Thing, reconcile: async () => undefined, ...options });
const watching = [Secret, ConfigMap].map((kind) => ({ kind, keys: () => [] }));
const core = (resources: string[], verbs: string[]) => ({ apiGroups: [""], resources, verbs });
/** Rules about resources of the core group. */
const ofCore = (rules: ReturnType<typeof workerRules>) =>
  rules.filter(({ apiGroups }) => apiGroups.includes(""));

test("worker - permissions for Secrets are granted in opted-in namespaces, all others cluster-wide", () => {
  const fn = declare({ owns: [Secret], watches: watching });
  expect(workerRules(fn, "opted-in")).toEqual([core(["secrets"], ["create", "delete", "get", "patch"])]);
  expect(ofCore(workerRules(fn, "all"))).toEqual([core(["configmaps"], ["get"])]);
});

test("worker - a watch of Secrets grants get; a function without Secrets gets no permission for them", () => {
  expect(workerRules(declare({ watches: watching }), "opted-in")).toEqual([core(["secrets"], ["get"])]);
  expect(workerRules(declare({ owns: [ConfigMap] }), "opted-in")).toEqual([]);
});

test("worker - a function that reconciles Secrets gets its permissions in opted-in namespaces", () => {
  const fn = declare({ for: Secret, owns: [ConfigMap] });
  expect(workerRules(fn, "opted-in")).toEqual([
    core(["secrets"], ["get", "patch"]),
    core(["secrets/finalizers"], ["update"]),
  ]);
  expect(ofCore(workerRules(fn, "all"))).toEqual([
    core(["configmaps"], ["create", "delete", "get", "patch"]),
  ]);
});

test("worker - a cluster-scoped kind with Secrets as children gets them in opted-in namespaces only", () => {
  const Wide: Kind = { ...Thing, scope: "Cluster" };
  const fn = declare({ for: Wide, owns: [Secret, ConfigMap] });
  expect(workerRules(fn, "opted-in")).toEqual([core(["secrets"], ["create", "delete", "get", "patch"])]);
  expect(ofCore(workerRules(fn, "all"))).toEqual([
    core(["configmaps"], ["create", "delete", "get", "patch"]),
  ]);
  // The owner itself, and the permission to block its deletion, are cluster-wide.
  expect(workerRules(fn, "all")).toContainEqual({
    ...{ apiGroups: [Thing.group], resources: ["things/finalizers"], verbs: ["update"] },
  });
});

test("worker - declared permissions are granted cluster-wide", () => {
  const permissions = [{ apiGroups: ["apps"], resources: ["deployments"], verbs: ["get"] }];
  const fn = declare({ permissions });
  expect(workerRules(fn, "all")).toContainEqual(permissions[0]);
  expect(workerRules(fn, "opted-in")).toEqual([]);
});

test("bridge - lists and watches Secrets in opted-in namespaces, and may list namespaces", () => {
  const functions = [declare({ watches: watching }), declare({ name: "other", owns: [Secret] })];
  expect(bridgeRules(functions, "opted-in")).toEqual([core(["secrets"], ["list", "watch"])]);
  expect(ofCore(bridgeRules(functions, "all"))).toEqual([
    core(["configmaps"], ["list", "watch"]),
    core(["namespaces"], ["list"]),
  ]);
});

test("bridge - may not list namespaces if no function uses Secrets", () => {
  const functions = [declare({ owns: [ConfigMap] })];
  expect(ofCore(bridgeRules(functions, "all"))).toEqual([core(["configmaps"], ["list", "watch"])]);
  expect(bridgeRules(functions, "opted-in")).toEqual([]);
});

test("a kind with reach opted-in is granted like Secrets", () => {
  const Vault = externalKind({
    ...{ group: "example.com", version: "v1", kind: "Vault", plural: "vaults" },
    reach: "opted-in",
  });
  expect(bridgeRules([declare({ owns: [Vault] })], "opted-in")).toEqual([
    { apiGroups: ["example.com"], resources: ["vaults"], verbs: ["list", "watch"] },
  ]);
});
