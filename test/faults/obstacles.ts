/** Ways to block an object by something outside it, each against a real API server. */
import { expect } from "vitest";
import { z } from "zod";
import type { KubeClient } from "../../bus/kube/client.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import { ApiError } from "../../bus/kube/errors.ts";
import { installCrds } from "../../bus/kube/install.ts";
import { apiVersionOf, ConfigMap, defineKind, externalKind, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { createNamespace } from "../harness/namespaces.ts";
import { type DenyingWebhook, startDenyingWebhook } from "./denyingwebhook.ts";

const admission = (kind: string, plural: string): Kind =>
  externalKind({ group: "admissionregistration.k8s.io", version: "v1", kind, plural, scope: "Cluster" });
const WebhookConfiguration = admission("ValidatingWebhookConfiguration", "validatingwebhookconfigurations");
const Policy = admission("ValidatingAdmissionPolicy", "validatingadmissionpolicies");
const MutatingPolicy = admission("MutatingAdmissionPolicy", "mutatingadmissionpolicies");
const MutatingBinding = admission("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings");
const PolicyBinding = admission("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings");
const Quota = externalKind({ group: "", version: "v1", kind: "ResourceQuota", plural: "resourcequotas" });
const ApiService = externalKind({
  group: "apiregistration.k8s.io",
  version: "v1",
  kind: "APIService",
  plural: "apiservices",
  scope: "Cluster",
});
const Crd = externalKind({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
});

/** A URL without a server behind it. */
const nowhere = "https://127.0.0.1:1/";
/** Options of the tests' writes. */
export const write = { fieldManager: "test" } as const;

export function objectOf(kind: Kind, name: string, namespace: string | undefined, rest: object): KubeObject {
  const metadata = { name, ...(namespace && { namespace }) };
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...rest } as KubeObject;
}

const configMap = (namespace: string, name = "made") => objectOf(ConfigMap, name, namespace, { data: {} });

/** A way to block an object: what blocks it, what is attempted, and what unblocks it. */
export interface Obstacle {
  readonly reason: string;
  readonly names: string;
  block(client: KubeClient): Promise<unknown>;
  attempt(client: KubeClient): Promise<unknown>;
  unblock(client: KubeClient): Promise<unknown>;
}

const rulesFor = (resource: string) => ({
  apiGroups: [""],
  apiVersions: ["v1"],
  resources: [resource],
  operations: ["CREATE"],
});
const only = (namespace: string) => ({ matchLabels: { "kubernetes.io/metadata.name": namespace } });

/** A kind of two versions with an unreachable conversion webhook. */
const twoVersions = (strategy: object) => ({
  spec: {
    group: "test.denrei.dev",
    scope: "Namespaced",
    names: { plural: "parcels", singular: "parcel", kind: "Parcel", listKind: "ParcelList" },
    conversion: strategy,
    versions: ["v1", "v2"].map((name) => ({
      name,
      served: true,
      storage: name === "v1",
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    })),
  },
});
/** An aggregated API serves this kind first, the API server later. */
const Away = defineKind({
  group: "away.example",
  version: "v1",
  kind: "Away",
  description: "Served by an unavailable API.",
  spec: z.object({}),
});
const away = () => objectOf(Away, "made", "default", { spec: {} }) as never;
const Parcel = externalKind({ group: "test.denrei.dev", version: "v2", kind: "Parcel", plural: "parcels" });
const Letter = externalKind({ group: "test.denrei.dev", version: "v1", kind: "Late", plural: "lates" });

/** A policy whose parameters are of a kind that is not installed. */
function withoutParameters(policy: Kind, binding: Kind, namespace: string, rest: object): Obstacle {
  const name = `${namespace}.example`;
  return {
    reason: "AdmissionDenied",
    names: `the ${policy.kind} ${name} cannot be evaluated`,
    async block(client) {
      const paramKind = { apiVersion: "absent.example/v1", kind: "Absent" };
      const matchConstraints = {
        resourceRules: [rulesFor("configmaps")],
        namespaceSelector: only(namespace),
      };
      const spec = { failurePolicy: "Fail", paramKind, matchConstraints, ...rest };
      await client.create(policy, objectOf(policy, name, undefined, { spec }), write);
      const paramRef = { name: "any", namespace, parameterNotFoundAction: "Deny" };
      const actions = policy === Policy ? { validationActions: ["Deny"] } : {};
      const bound = { policyName: name, paramRef, ...actions };
      await client.create(binding, objectOf(binding, name, undefined, { spec: bound }), write);
      await expect.poll(() => isDenied(client, namespace), { timeout: 60_000 }).toBe(true);
    },
    attempt: (client) => client.create(ConfigMap, configMap(namespace) as never, write),
    async unblock(client) {
      await client.delete(binding, { name }, {});
      await client.delete(policy, { name }, {});
    },
  };
}

const blocking = (name: string, namespace: string, clientConfig: object) =>
  objectOf(WebhookConfiguration, name, undefined, {
    webhooks: [
      {
        name: `${name}.policy.example`,
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        failurePolicy: "Fail",
        timeoutSeconds: 5,
        namespaceSelector: only(namespace),
        clientConfig,
        rules: [rulesFor("configmaps")],
      },
    ],
  });

/** A webhook that denies requests with the code of a busy or unready server. */
function denyingWith(name: string, code: number): Obstacle {
  const namespace = `of-${name}`;
  let webhook: DenyingWebhook | undefined;
  return {
    reason: "AdmissionDenied",
    names: `the admission webhook ${name}.policy.example denies the request`,
    async block(client) {
      webhook = await startDenyingWebhook(code);
      await client.create(WebhookConfiguration, blocking(name, namespace, webhook.clientConfig), write);
      await expect.poll(() => statusOf(client.create(ConfigMap, probe(namespace), dryRun))).toBe(code);
    },
    attempt: (client) => client.create(ConfigMap, configMap(namespace) as never, write),
    async unblock(client) {
      webhook?.stop();
      await client.delete(WebhookConfiguration, { name }, {});
    },
  };
}

/** The obstacles, by name. */
export const obstacles: Readonly<Record<string, Obstacle>> = {
  webhook: {
    reason: "AdmissionWebhookUnavailable",
    names: "the admission webhook validate.policy.example",
    async block(client) {
      await client.create(WebhookConfiguration, blocking("validate", "of-webhook", { url: nowhere }), write);
      // It takes effect some moments later, like a policy.
      await expect.poll(() => isDenied(client, "of-webhook"), { timeout: 60_000 }).toBe(true);
    },
    attempt: (client) => client.create(ConfigMap, configMap("of-webhook") as never, write),
    unblock: (client) => client.delete(WebhookConfiguration, { name: "validate" }, {}),
  },
  "busy-webhook": denyingWith("busy-webhook", 429),
  "starting-webhook": denyingWith("starting-webhook", 503),
  policy: {
    reason: "AdmissionDenied",
    names: "the ValidatingAdmissionPolicy closed.example",
    async block(client) {
      const matchConstraints = {
        resourceRules: [rulesFor("configmaps")],
        namespaceSelector: only("of-policy"),
      };
      const validations = [{ expression: "false", message: "closed today" }];
      const spec = { failurePolicy: "Fail", matchConstraints, validations };
      await client.create(Policy, objectOf(Policy, "closed.example", undefined, { spec }), write);
      const binding = { policyName: "closed.example", validationActions: ["Deny"] };
      await client.create(
        PolicyBinding,
        objectOf(PolicyBinding, "closed.example", undefined, { spec: binding }),
        write,
      );
      // A policy takes effect some moments after it is bound.
      await expect.poll(() => isDenied(client, "of-policy"), { timeout: 60_000 }).toBe(true);
    },
    attempt: (client) => client.create(ConfigMap, configMap("of-policy") as never, write),
    async unblock(client) {
      await client.delete(PolicyBinding, { name: "closed.example" }, {});
      await client.delete(Policy, { name: "closed.example" }, {});
    },
  },
  "policy-without-parameters": withoutParameters(Policy, PolicyBinding, "of-unusable", {
    validations: [{ expression: "object.metadata.name != params.metadata.name" }],
  }),
  "mutating-policy": withoutParameters(MutatingPolicy, MutatingBinding, "of-mutation", {
    reinvocationPolicy: "Never",
    mutations: [
      {
        patchType: "ApplyConfiguration",
        applyConfiguration: {
          expression: 'Object{metadata: Object.metadata{labels: {"of": params.metadata.name}}}',
        },
      },
    ],
  }),
  "server-behind": {
    reason: "ApiServerUnavailable",
    names: "a server behind it",
    async block(client) {
      const spec = {
        group: "away.example",
        version: "v1",
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { namespace: "default", name: "away" },
      };
      await client.create(ApiService, objectOf(ApiService, "v1.away.example", undefined, { spec }), write);
      await expect.poll(() => statusOf(client.create(Away, away(), write))).toBe(503);
    },
    attempt: (client) => client.create(Away, away(), write),
    async unblock(client) {
      await client.delete(ApiService, { name: "v1.away.example" }, {});
      await installCrds(client, [crdOf(Away)], {
        fieldManager: "test",
        signal: AbortSignal.timeout(60_000),
        lostFields: "drop",
      });
    },
  },
  quota: {
    reason: "QuotaExceeded",
    names: "the ResourceQuota few",
    async block(client) {
      const hard = { "count/configmaps": "0" };
      await client.create(Quota, objectOf(Quota, "few", "of-quota", { spec: { hard } }), write);
      const status = { status: { hard, used: hard } };
      const at = { namespace: "of-quota", name: "few" };
      await client.mergePatch(Quota, at, status, { ...write, subresource: "status" });
      await expect.poll(() => isDenied(client, "of-quota"), { timeout: 60_000 }).toBe(true);
    },
    attempt: (client) => client.create(ConfigMap, configMap("of-quota") as never, write),
    unblock: (client) => client.delete(Quota, { namespace: "of-quota", name: "few" }, {}),
  },
  conversion: {
    reason: "ConversionWebhookUnavailable",
    names: "the conversion webhook of test.denrei.dev/v2, Kind=Parcel",
    async block(client) {
      const webhook = { clientConfig: { url: nowhere }, conversionReviewVersions: ["v1"] };
      await client.create(
        Crd,
        objectOf(Crd, "parcels.test.denrei.dev", undefined, twoVersions({ strategy: "Webhook", webhook })),
        write,
      );
    },
    attempt: (client) => client.create(Parcel, objectOf(Parcel, "made", "default", {}), write),
    unblock: (client) =>
      client.mergePatch(
        Crd,
        { name: "parcels.test.denrei.dev" },
        { spec: { conversion: { strategy: "None", webhook: null } } },
        write,
      ),
  },
  crd: {
    reason: "KindNotInstalled",
    names: "the API server does not know this kind",
    block: async () => undefined,
    attempt: (client) => client.create(Letter, objectOf(Letter, "made", "default", {}), write),
    unblock: (client) => {
      const late = twoVersions({ strategy: "None" });
      const names = { plural: "lates", singular: "late", kind: "Late", listKind: "LateList" };
      return client.create(
        Crd,
        objectOf(Crd, "lates.test.denrei.dev", undefined, { spec: { ...late.spec, names } }),
        write,
      );
    },
  },
  namespace: {
    reason: "NamespaceMissing",
    names: "the namespace missing does not exist",
    block: async () => undefined,
    attempt: (client) => client.create(ConfigMap, configMap("missing") as never, write),
    unblock: (client) => createNamespace(client, "missing"),
  },
};

const statusOf = (answer: Promise<unknown>): Promise<number | undefined> =>
  answer.then(
    () => undefined,
    (error: unknown) => (error instanceof ApiError ? error.status : undefined),
  );

const dryRun = { ...write, dryRun: "All" } as const;
const probe = (namespace: string) => configMap(namespace, "probe") as never;

async function isDenied(client: KubeClient, namespace: string): Promise<boolean> {
  return client.create(ConfigMap, probe(namespace), dryRun).then(
    () => false,
    () => true,
  );
}

/** The namespaces that the obstacles use. */
export const blockedNamespaces = [
  ...["of-webhook", "of-busy-webhook", "of-starting-webhook"],
  ...["of-policy", "of-unusable", "of-mutation", "of-quota"],
];
