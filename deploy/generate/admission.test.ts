import { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineKind } from "../../bus/kube/kind.ts";
import { defineFunction, type ReconcileFunction } from "../../bus/worker/function.ts";
import { functions } from "../../functions/index.ts";
import { certificateManifests } from "./certificates.ts";
import { clusterWebhook, crdManifests, needWebhook } from "./crds.ts";
import { separateLayout } from "./layout.ts";
import { networkPolicies } from "./network.ts";
import { admissionManifests } from "./workloads.ts";

const Parcel = defineKind({
  group: "g.example.com",
  kind: "Parcel",
  description: "",
  storage: "v1",
  versions: {
    v1alpha1: {
      spec: z.object({ to: z.string() }),
      upgrade: ({ spec }) => ({ spec: { city: spec.to } }),
      downgrade: ({ spec }) => ({ spec: { to: spec.city } }),
    },
    v1: { spec: z.object({ city: z.string() }) },
  },
});
const parcels = defineFunction({ name: "parcels", for: Parcel, reconcile: async () => undefined });

const service = { namespace: "ours", name: "denrei-admission", path: "/convert", port: 443 };

test("a CRD names the Service of the webhook, and its CA", () => {
  expect(() => crdManifests([parcels])).toThrow(/needs the address of a webhook/);
  expect(crdManifests([parcels], clusterWebhook("ours", "pem"))).toMatchObject([
    { spec: { conversion: { webhook: { clientConfig: { service, caBundle: "cGVt" } } } } },
  ]);
});

test("without a CA, cert-manager adds it", () => {
  const [crd] = crdManifests([parcels], clusterWebhook("ours"));
  expect(crd).toMatchObject({
    metadata: { annotations: { "cert-manager.io/inject-ca-from": "ours/denrei-admission" } },
    spec: { conversion: { webhook: { clientConfig: { service } } } },
  });
  expect(JSON.stringify(crd)).not.toContain("caBundle");
});

test("the certificate of the webhook is for the host name that the API server uses", () => {
  const secretsOf = (some: readonly ReconcileFunction[]) =>
    certificateManifests(separateLayout(some), "ours") as {
      metadata: { name: string };
      data: Record<string, string>;
    }[];
  const found = secretsOf([parcels]).find(({ metadata }) => metadata.name === "denrei-admission-tls");
  const certificate = new X509Certificate(Buffer.from(found?.data["tls.crt"] ?? "", "base64"));
  expect(certificate.checkHost("denrei-admission.ours.svc")).toBe("denrei-admission.ours.svc");
  expect(secretsOf(functions).map(({ metadata }) => metadata.name)).not.toContain("denrei-admission-tls");
});

test("the webhook uses neither the bus nor the API server, and its Service reaches its port", () => {
  const [deployment, budget, front] = admissionManifests("ours");
  expect(deployment).toMatchObject({
    spec: {
      replicas: 2,
      template: {
        spec: {
          automountServiceAccountToken: false,
          containers: [{ args: ["admission"], ports: [{ name: "http" }, { name: "admission" }] }],
          volumes: [{ name: "tmp" }, { name: "admission", secret: { secretName: "denrei-admission-tls" } }],
        },
      },
    },
  });
  expect(JSON.stringify(deployment)).not.toContain("NATS_");
  expect(budget).toMatchObject({ kind: "PodDisruptionBudget" });
  expect(front).toMatchObject({ kind: "Service", spec: { ports: [{ port: 443, targetPort: "admission" }] } });
});

test("network policies let the API server in, and only where a kind needs the webhook", () => {
  const named = (all: readonly object[]) =>
    (all as { metadata: { name: string } }[]).find(({ metadata }) => metadata.name === "denrei-admission");
  expect(named(networkPolicies(separateLayout([parcels]), "ours"))).toMatchObject({
    spec: { ingress: [{ ports: [{ port: 8083 }] }, { ports: [{ port: 8080 }] }] },
  });
  expect(named(networkPolicies(separateLayout(functions), "ours"))).toBeUndefined();
  expect(needWebhook(functions)).toBe(false);
});
