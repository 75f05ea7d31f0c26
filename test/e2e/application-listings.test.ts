/** Wrong entries in a site's list of kinds, and kinds of other operators: what the Application reports, and how it recovers. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { installCrds } from "../../bus/kube/install.ts";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import type { Application } from "../../functions/paas/kinds.ts";
import { applyChartRights, untilByRetry } from "../harness/chartkinds.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const at = { namespace: "default", name: "web" };
const claim = "- { group: '', version: v1, kind: PersistentVolumeClaim, plural: persistentvolumeclaims }";
const certificate = "- { group: cert-manager.io, version: v1, kind: Certificate, plural: certificates }";
const secret = "- { group: external-secrets.io, version: v1, kind: ExternalSecret, plural: externalsecrets }";
const Certificate = externalKind<KubeObject<{ readonly dnsNames: readonly string[] }>>({
  ...{ group: "cert-manager.io", version: "v1", kind: "Certificate", plural: "certificates" },
});

let paas: Paas;
beforeAll(async () => {
  paas = await startPaas({
    functions: ["modoki-application"],
    lacking: [
      "cert-manager.io/certificates",
      "cert-manager.io/certs",
      "external-secrets.io/externalsecrets",
      "/persistentvolumeclaims",
      "scheduling.k8s.io/priorityclasses",
    ],
  });
  const signal = AbortSignal.timeout(60_000);
  const crds = [crd("cert-manager.io", "Certificate"), crd("external-secrets.io", "ExternalSecret")];
  await installCrds(paas.environment.client, crds, { fieldManager: "test", signal });
  await site([], chart());
  await paas.application(at.name);
});
afterAll(() => paas?.stop());

const objects = {
  PersistentVolumeClaim: `{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec: { accessModes: ["ReadWriteOnce"], storageClassName: "none", resources: { requests: { storage: "1Gi" } } } }`,
  Certificate: `{ apiVersion: "cert-manager.io/v1", kind: "Certificate", metadata, spec: { dnsNames: ["a.example.com"] } }`,
  ExternalSecret: `{ apiVersion: "external-secrets.io/v1", kind: "ExternalSecret", metadata, spec: {} }`,
  HorizontalPodAutoscaler: `{ apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata, spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } } }`,
  PriorityClass: `{ apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata, value: 1000 }`,
} as const;
const chart = (...made: readonly (keyof typeof objects)[]): string => `
export default ({ app }) => {
  const metadata = { name: app.metadata.name };
  return [{ apiVersion: "v1", kind: "ConfigMap", metadata, data: {} }, ${made.map((kind) => objects[kind]).join(", ")}];
};`;
const site = (lines: readonly string[], text: string) =>
  paas.site({ "config.yaml": `kinds:\n${lines.map((one) => `  ${one}\n`).join("")}`, "chart.js": text });

const byRetry = (condition: (app: Stored<Application>) => boolean) => untilByRetry(paas, at, condition);
const messageOf = (app: Stored<Application>, type = "Ready") => conditionOf(app, type)?.message ?? "";

test.each([
  ["plural", "/v1/namespaces/default/certs/", certificate.replace("certificates", "certs"), "v1"],
  ["version", "/v1beta1/namespaces/default/", certificate.replace("v1,", "v1beta1,"), "v1beta1"],
])("a wrong %s is reported with the right line", async (_, path, line, version) => {
  await site([line], chart("Certificate").replace("cert-manager.io/v1", `cert-manager.io/${version}`));
  await applyChartRights(paas);
  const corrected = `The API server knows it as ${certificate}: correct the line`;
  await byRetry((app) => messageOf(app).includes(corrected) && messageOf(app).includes(path));
});

test("reports that a listed kind is cluster-scoped", async () => {
  await site(
    ["- { group: scheduling.k8s.io, version: v1, kind: PriorityClass, plural: priorityclasses }"],
    chart("PriorityClass"),
  );
  await applyChartRights(paas);
  // Before the rights are in force, it is refused for want of them.
  await byRetry((app) => messageOf(app).includes("A PriorityClass is cluster-scoped"));
});

test("creates, waits for, edits, and deletes claims, certificates, and external secrets with the chart", async () => {
  const all = chart("PersistentVolumeClaim", "Certificate", "ExternalSecret", "HorizontalPodAutoscaler");
  await site([claim, certificate, secret], all);
  await applyChartRights(paas);
  const waiting = await byRetry(has("Ready", "False", "ChildNotReady"));
  expect(messageOf(waiting)).toBe("the PersistentVolumeClaim web: it is Pending, not Bound");
  await site([claim, certificate, secret], all.replace("a.example.com", "b.example.com"));
  await paas.environment.until(Certificate, at, ({ spec }) => spec.dnsNames.includes("b.example.com"));
  await site([claim, certificate, secret], chart("HorizontalPodAutoscaler"));
  await paas.environment.untilGone(Certificate, at);
  const done = await byRetry(has("Ready", "True"));
  expect(done.status?.resources?.map(({ kind }) => kind)).toEqual(["ConfigMap", "HorizontalPodAutoscaler"]);
});

function crd(group: string, kind: string) {
  const plural = `${kind.toLowerCase()}s`;
  const schema = {
    openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, subresources: { status: {} }, schema }],
    },
  };
}
