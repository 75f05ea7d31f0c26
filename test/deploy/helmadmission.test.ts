/** The Helm chart of functions whose kinds have admission hooks. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { admissionName } from "../../deploy/generate/rbac.ts";
import { type Chart, kubeVersion, openChart, type Values } from "./chart.ts";
import { find } from "./manifests.ts";
import { parcels } from "./projects.ts";

let chart: Chart;
beforeAll(async () => {
  chart = await openChart({ project: fileURLToPath(new URL("../fixtures/hooks", import.meta.url)) });
});
afterAll(() => chart?.remove());

const name = "crates.test.denrei.dev";
const authority = "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n";

test("deploys the webhook, and the API server calls it with the CA of cert-manager or of the values", async () => {
  const objects = await chart.template({ admission: { replicas: 3 } });
  expect(find(objects, "Deployment", admissionName)).toMatchObject({ spec: { replicas: 3 } });
  expect(find(objects, "Service", admissionName)).toBeDefined();
  const mutating = find(objects, "MutatingWebhookConfiguration", name);
  const annotations = { "cert-manager.io/inject-ca-from": "denrei/denrei-admission" };
  expect(mutating.metadata).toMatchObject({ annotations });
  expect(JSON.stringify(mutating)).not.toContain("caBundle");

  const given = await chart.template({ admission: { ca: authority } });
  const validating = find(given, "ValidatingWebhookConfiguration", name);
  expect(validating.metadata).not.toHaveProperty("annotations");
  expect(validating).toMatchObject({
    webhooks: [{ clientConfig: { caBundle: Buffer.from(authority).toString("base64") } }],
  });
});

test("conversions are at the webhook of the release, with the same CA", async () => {
  const { template, remove } = await openChart({ project: parcels });
  onTestFinished(remove);
  const objects = await template({ admission: { ca: authority } });
  const crd = find(objects, "CustomResourceDefinition", "parcels.parcels.example.com");
  expect(crd.metadata).toMatchObject({ annotations: { "helm.sh/resource-policy": "keep" } });
  expect(JSON.stringify(crd.metadata)).not.toContain("cert-manager.io");
  const clientConfig = { caBundle: Buffer.from(authority).toString("base64") };
  expect(crd).toMatchObject({ spec: { conversion: { webhook: { clientConfig } } } });
});

test("another namespace has its own webhook, and hooks exempt its objects", async () => {
  const { output } = await chart.helm([
    ...["template", "denrei", chart.folder, "--namespace", "elsewhere", ...kubeVersion],
    ...["--show-only", "templates/webhook-configurations.yaml"],
  ]);
  expect(output).toContain("cert-manager.io/inject-ca-from: elsewhere/denrei-admission");
  expect(output).toMatch(/namespace: "?elsewhere/);
  expect(output).toMatch(/- kube-system\n\s+- "?elsewhere/);
});

test.each<[string, Values, number]>([
  ["without hooks, the API server does not call the webhook", { admission: { hooks: false } }, 0],
  ["with them, it does", {}, 2],
])("%s", async (_, values, count) => {
  const objects = await chart.template(values);
  expect(objects.filter(({ kind }) => kind.endsWith("WebhookConfiguration"))).toHaveLength(count);
});

test("a CA that is not a certificate is rejected", async () => {
  await expect(chart.template({ admission: { ca: "ca.crt" } })).rejects.toThrow(/values don't meet/);
});
