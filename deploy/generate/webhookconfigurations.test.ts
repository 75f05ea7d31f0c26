import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { type AdmissionOptions, defineKind } from "../../bus/entrypoints/kinds.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import { clusterWebhook, crdManifests, needWebhook } from "./crds.ts";
import { generatedFiles } from "./files.ts";
import { admissionConfigurations } from "./webhookconfigurations.ts";

const functionWith = (admission: AdmissionOptions, scope: "Namespaced" | "Cluster" = "Namespaced") =>
  defineFunction({
    name: "parcels",
    for: defineKind({
      ...{ group: "g.example.com", version: "v1", kind: "Parcel", description: "", scope },
      spec: z.object({}),
      admission: admission as AdmissionOptions<never>,
    }),
    reconcile: async () => undefined,
  });

const parcels = functionWith({ mutate: () => undefined, validate: () => undefined });
const configurations = (fn: typeof parcels, ca?: string) =>
  admissionConfigurations([fn], clusterWebhook("ours", ca)) as {
    kind: string;
    metadata: { name: string };
    webhooks: { rules: { operations: string[] }[]; matchConditions: { name: string }[] }[];
  }[];

test("a kind has a configuration for each type of hook, whose rules name only the stored version", () => {
  const [mutating, validating] = configurations(parcels, "pem");
  const webhook = {
    admissionReviewVersions: ["v1"],
    rules: [
      {
        apiGroups: ["g.example.com"],
        apiVersions: ["v1"],
        resources: ["parcels"],
        operations: ["CREATE", "UPDATE"],
        scope: "Namespaced",
      },
    ],
    matchPolicy: "Equivalent",
    sideEffects: "None",
    failurePolicy: "Fail",
    timeoutSeconds: 5,
    namespaceSelector: {
      matchExpressions: [
        { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", "ours"] },
      ],
    },
  };
  const service = { namespace: "ours", name: "denrei-admission", port: 443 };
  expect(mutating).toMatchObject({
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "parcels.g.example.com" },
    webhooks: [
      {
        ...webhook,
        name: "mutate.parcels.g.example.com",
        clientConfig: { service: { ...service, path: "/mutate" }, caBundle: "cGVt" },
        reinvocationPolicy: "IfNeeded",
      },
    ],
  });
  expect(validating).toMatchObject({
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "parcels.g.example.com" },
    webhooks: [
      {
        ...webhook,
        name: "validate.parcels.g.example.com",
        clientConfig: { service: { ...service, path: "/validate" }, caBundle: "cGVt" },
      },
    ],
  });
});

test("options change the configuration", () => {
  const matchLabels = { "example.com/checked": "yes" };
  const options = { failurePolicy: "Ignore", timeoutSeconds: 2, updates: "all" } as const;
  const [validating, ...others] = configurations(
    functionWith(
      {
        ...{ validateDelete: () => undefined, ...options },
        namespaceSelector: { matchLabels },
        objectSelector: { matchLabels },
      },
      "Cluster",
    ),
  );
  expect(others).toEqual([]);
  expect(validating).toMatchObject({
    // Without a CA, cert-manager adds it.
    metadata: { annotations: { "cert-manager.io/inject-ca-from": "ours/denrei-admission" } },
    webhooks: [
      {
        rules: [{ operations: ["DELETE"], scope: "Cluster" }],
        failurePolicy: "Ignore",
        timeoutSeconds: 2,
        namespaceSelector: { matchLabels },
        objectSelector: { matchLabels },
      },
    ],
  });
  expect(validating?.webhooks[0]?.matchConditions.map(({ name }) => name)).toEqual(["not-being-deleted"]);
});

test("hooks need the webhook, but their CRD does not name it", () => {
  expect(needWebhook([parcels])).toBe(true);
  expect(JSON.stringify(crdManifests([parcels]))).not.toContain("conversion");
});

test("the generated configurations are outside the base, to be applied later", async () => {
  const files = await generatedFiles([parcels], fileURLToPath(new URL("../..", import.meta.url)));
  const paths = [...files.keys()].filter((path) => files.get(path)?.includes("WebhookConfiguration"));
  expect(paths).toEqual(["deploy/kubernetes/admission/configurations.yaml"]);
  expect(files.get("deploy/kubernetes/admission/kustomization.yaml")).toContain("configurations.yaml");
  expect(files.get("deploy/kubernetes/base/functions/kustomization.yaml")).toContain("admission.yaml");
});
