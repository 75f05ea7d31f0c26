import { expect, test } from "vitest";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import type { Application } from "../kinds/application.ts";
import { deleteHostRoutes, removeRefusedHosts } from "./hosting.ts";
import { resourceOf } from "./inventory.ts";

const metadata = { namespace: "team-a", name: "web", uid: "u", resourceVersion: "1" };
const controller = {
  apiVersion: "modoki.tsuzu.dev/v1alpha1",
  kind: "Application",
  name: "web",
  controller: true,
};
const dns = "external-dns.alpha.kubernetes.io/hostname";

const child = (
  apiVersion: string,
  kind: string,
  { owner = "u", annotations, spec = {} }: { owner?: string; annotations?: object; spec?: object } = {},
) =>
  ({
    apiVersion,
    kind,
    metadata: { ...metadata, uid: kind, annotations, ownerReferences: [{ ...controller, uid: owner }] },
    spec,
  }) as unknown as Stored;

const deployment = child("apps/v1", "Deployment");
const plain = child("v1", "Service");
const named = child("v1", "Service", { annotations: { [dns]: "a.example.com,B.example.com", kept: "yes" } });
const ingress = child("networking.k8s.io/v1", "Ingress", {
  annotations: { [dns]: "b.example.com" },
  spec: { rules: [{ host: "a.example.com" }] },
});

/** The writes that the work makes in a cluster with these objects. */
async function made(
  there: readonly Stored[],
  work: (app: Stored<Application>, ctx: Context) => Promise<void>,
): Promise<unknown[]> {
  const app = { metadata, status: { resources: there.map(resourceOf) } } as unknown as Stored<Application>;
  const made: unknown[] = [];
  const ctx = {
    live: { get: async ({ kind }: KubeObject) => there.find((one) => one.kind === kind) },
    patch: async (_: unknown, { kind }: KubeObject, patch: object) => made.push(`patch ${kind}`, patch),
    delete: async (_: unknown, { kind }: KubeObject) => made.push(`delete ${kind}`),
  } as unknown as Context;
  await work(app, ctx);
  return made;
}

const withdrawn = (there: readonly Stored[], ...hosts: string[]) =>
  made(there, (app, ctx) => removeRefusedHosts(app, new Set(hosts), ctx));

test("removes only the annotation of a Service with a refused host", async () => {
  const patch = { metadata: { annotations: { [dns]: null } } };
  expect(await withdrawn([deployment, named], "b.example.com")).toEqual(["patch Service", patch]);
});

test("deletes a route with a refused host, also if only an annotation names it", async () => {
  for (const host of ["a.example.com", "b.example.com"])
    expect(await withdrawn([deployment, plain, ingress], host)).toEqual(["delete Ingress"]);
});

test("does not change objects without refused hosts or with other owners", async () => {
  expect(await withdrawn([deployment, named, ingress], "c.example.com")).toEqual([]);
  expect(await withdrawn([deployment, named, ingress])).toEqual([]);
  const foreign = child("v1", "Service", { owner: "other", annotations: { [dns]: "a.example.com" } });
  expect(await withdrawn([foreign], "a.example.com")).toEqual([]);
});

test("deletes all objects with hosts when the Application is deleted", async () => {
  expect(await made([deployment, named, ingress], deleteHostRoutes)).toEqual([
    "delete Service",
    "delete Ingress",
  ]);
  expect(await made([deployment, plain], deleteHostRoutes)).toEqual([]);
});
