/** What blocks a request from outside its object: reported, retried for as long as it takes, and never a dead letter. */
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Publisher } from "../../bus/bridge/publisher.ts";
import { type Bus, connectBus } from "../../bus/connect.ts";
import type { KubeClient } from "../../bus/kube/client.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import { conditions } from "../../bus/kube/fields.ts";
import { apiVersionOf, ConfigMap, defineKind, externalKind, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import { startWorker, type Worker } from "../../bus/worker/worker.ts";
import { type Kit, startKit } from "../harness/kit.ts";
import { createNamespace } from "../harness/namespaces.ts";
import { publisherOf } from "../harness/publish.ts";

const Errand = defineKind({
  group: "test.denrei.dev",
  version: "v1",
  kind: "Errand",
  description: "Something to do that others can block.",
  spec: z.object({ blockedBy: z.string() }),
  status: z.object({ conditions: conditions("Ready") }),
});

const admission = (kind: string, plural: string): Kind =>
  externalKind({ group: "admissionregistration.k8s.io", version: "v1", kind, plural, scope: "Cluster" });
const WebhookConfiguration = admission("ValidatingWebhookConfiguration", "validatingwebhookconfigurations");
const Policy = admission("ValidatingAdmissionPolicy", "validatingadmissionpolicies");
const PolicyBinding = admission("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings");
const Quota = externalKind({ group: "", version: "v1", kind: "ResourceQuota", plural: "resourcequotas" });
const Crd = externalKind({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
});

/** Nothing listens there. */
const nowhere = "https://127.0.0.1:1/";
const write = { fieldManager: "test" } as const;

function objectOf(kind: Kind, name: string, namespace: string | undefined, rest: object): KubeObject {
  const metadata = { name, ...(namespace && { namespace }) };
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...rest } as KubeObject;
}

const configMap = (namespace: string, name = "made") => objectOf(ConfigMap, name, namespace, { data: {} });

/** A way to be blocked: what blocks, what is tried, and what unblocks it. */
interface Obstacle {
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

/** A kind of two versions, where a webhook that is away converts between them. */
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
const Parcel = externalKind({ group: "test.denrei.dev", version: "v2", kind: "Parcel", plural: "parcels" });
const Letter = externalKind({ group: "test.denrei.dev", version: "v1", kind: "Late", plural: "lates" });

const obstacles: Readonly<Record<string, Obstacle>> = {
  webhook: {
    reason: "AdmissionWebhookUnavailable",
    names: "the admission webhook validate.policy.example",
    block: (client) =>
      client.create(
        WebhookConfiguration,
        objectOf(WebhookConfiguration, "policy-engine", undefined, {
          webhooks: [
            {
              name: "validate.policy.example",
              admissionReviewVersions: ["v1"],
              sideEffects: "None",
              failurePolicy: "Fail",
              timeoutSeconds: 5,
              namespaceSelector: only("of-webhook"),
              clientConfig: { url: nowhere },
              rules: [rulesFor("configmaps")],
            },
          ],
        }),
        write,
      ),
    attempt: (client) => client.create(ConfigMap, configMap("of-webhook") as never, write),
    unblock: (client) => client.delete(WebhookConfiguration, { name: "policy-engine" }, {}),
  },
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
      // A policy counts some moments after it is bound.
      await expect.poll(() => isDenied(client, "of-policy"), { timeout: 60_000 }).toBe(true);
    },
    attempt: (client) => client.create(ConfigMap, configMap("of-policy") as never, write),
    async unblock(client) {
      await client.delete(PolicyBinding, { name: "closed.example" }, {});
      await client.delete(Policy, { name: "closed.example" }, {});
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

async function isDenied(client: KubeClient, namespace: string): Promise<boolean> {
  const probe = configMap(namespace, "probe") as never;
  return client.create(ConfigMap, probe, { ...write, dryRun: "All" }).then(
    () => false,
    () => true,
  );
}

let kit: Kit;
let bus: Bus;
let worker: Worker;
let publisher: Publisher;
const tries = new Map<string, number>();
const names = Object.keys(obstacles);
const scope = { fn: "errands", cluster: "test" };

beforeAll(async () => {
  kit = await startKit({ crds: [crdOf(Errand)] });
  bus = await connectBus({ url: kit.platform.natsUrl, name: "test" });
  const { client } = kit;
  for (const name of ["of-webhook", "of-policy", "of-quota"]) await createNamespace(client, name);
  const busOptions = { replicas: 1, ackWaitMillis: 10_000 };
  await ensureTopology(bus, busOptions);
  worker = await startWorker({
    bus,
    busOptions,
    client,
    cluster: scope.cluster,
    replica: "replica-1",
    functions: [
      defineFunction({
        name: scope.fn,
        for: Errand,
        async reconcile(errand) {
          const { blockedBy } = errand.spec;
          tries.set(blockedBy, (tries.get(blockedBy) ?? 0) + 1);
          await obstacles[blockedBy]?.attempt(client);
          tries.set(blockedBy, Number.NaN);
        },
      }),
    ],
    log: pino({ level: "silent" }),
    registry: new Registry(),
    retries: { baseMillis: 50, capMillis: 200, maxAttempts: 2, maxCrashes: 3 },
  });
  publisher = await publisherOf(bus, Errand);
});
afterAll(async () => {
  await worker?.stop();
  for (const name of names) await obstacles[name]?.unblock(kit.client).catch(() => undefined);
  await bus?.nc.close();
  await kit?.stop();
});

test.each(names)("blocked by a %s, an object is retried for as long as it takes", async (name) => {
  const { reason, names: who, block, unblock } = obstacles[name] as Obstacle;
  const { client } = kit;
  const stalled = async () => {
    const { status } = await client.get(Errand, { namespace: "default", name });
    return status?.conditions?.find(({ type }) => type === "Stalled");
  };

  await block(client);
  const errand = objectOf(Errand, name, "default", { spec: { blockedBy: name } });
  await publisher.publish("added", (await client.create(Errand, errand as never, write)) as Stored, "watch");
  await expect.poll(() => tries.get(name)).toBeGreaterThan(4);
  await expect.poll(stalled).toMatchObject({ status: "True", reason });
  expect((await stalled())?.message).toContain(who);
  expect(await deadLetters(bus, scope).list()).toEqual([]);

  await unblock(client);
  await expect.poll(() => tries.get(name)).toBeNaN();
  await expect.poll(stalled).toBeUndefined();
});
