/** One trace from a change in the API or a webhook to a function's writes: real processes, a real OTLP endpoint. */
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { Branch } from "../fixtures/functions/branches.ts";
import { Planter } from "../fixtures/functions/planters.ts";
import {
  type GatewayReplica,
  type Replica,
  startTestEnvironment,
  type TestEnvironment,
} from "../harness/environment.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";
import { type Collector, startCollector } from "./collector.ts";
import type { ExportedSpan } from "./otlp.ts";

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/functions/${name}.ts`, import.meta.url));
const [planters, branches, gardeners] = ["planters", "branches", "gardeners"].map(fixture) as [
  string,
  string,
  string,
];
const deadline = { timeout: 60_000, interval: 50 };

let collector: Collector;
let environment: TestEnvironment;
let gateway: GatewayReplica;
let planting: Replica;
let gardening: Replica;
beforeAll(async () => {
  collector = await startCollector();
  environment = await startTestEnvironment({ crds: [crdOf(Planter), crdOf(Branch)] });
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "20" };
  [, planting, gateway, gardening] = await Promise.all([
    environment.bridge("bridge-1", { args: [planters, branches, gardeners], env }),
    environment.worker("worker-1", [planters, branches], { env }),
    environment.gateway("gateway-1", { env }),
    environment.worker("worker-2", [gardeners], { env }),
  ]);
});
afterAll(async () => {
  await environment?.stop();
  await collector?.stop();
});

const planter = (name: string, spec: Planter["spec"]) =>
  environment.client.create(
    Planter,
    { apiVersion: "test.denrei.dev/v1", kind: "Planter", metadata: { namespace: "default", name }, spec },
    { fieldManager: "kubectl" },
  );

/** Waits for the one span with this name, these attributes, and this parent if given. */
async function spanOf(
  name: string,
  attributes: ExportedSpan["attributes"],
  parent?: ExportedSpan,
): Promise<ExportedSpan> {
  const found = () =>
    collector.spans.filter(
      (span) =>
        span.name === name &&
        (parent === undefined || span.parentSpanId === parent.spanId) &&
        Object.entries(attributes).every(([key, value]) => span.attributes[key] === value),
    );
  await expect
    .poll(() => found().length, { ...deadline, message: `${name} ${JSON.stringify(attributes)}` })
    .toBeGreaterThan(0);
  expect(found()).toHaveLength(1);
  return found()[0] as ExportedSpan;
}

const send = ({ pid }: Replica, signal: NodeJS.Signals) => process.kill(pid ?? 0, signal);

/** Creates a Planter. Workers that watch its children already know their writer, so they do not wait long for that. */
async function planterInTurn(name: string): Promise<ExportedSpan> {
  send(planting, "SIGSTOP");
  try {
    await planter(name, {});
    await spanOf("reconcile gardeners", { "denrei.key": `default/${name}` });
    send(gardening, "SIGSTOP");
    send(planting, "SIGCONT");
    return await spanOf("patch planters/status", { "denrei.api.name": name });
  } finally {
    for (const worker of [planting, gardening]) send(worker, "SIGCONT");
  }
}

const under = (parent: ExportedSpan) => ({ traceId: parent.traceId, parentSpanId: parent.spanId });

test("one create is one trace: published, routed, reconciled, written", async () => {
  const { metadata } = await planter("fern", {});
  const published = await spanOf("publish Planter", {
    "denrei.object.name": "fern",
    "denrei.object.resource_version": metadata.resourceVersion,
  });
  expect(published).toMatchObject({
    parentSpanId: "",
    kind: "producer",
    failed: false,
    attributes: {
      "messaging.system": "nats",
      "messaging.destination.name": "OBJECTS",
      "denrei.object.group": "test.denrei.dev",
      "denrei.object.kind": "Planter",
      "k8s.namespace.name": "default",
      "denrei.change": "added",
      "denrei.outcome": "published",
    },
    resource: { "service.name": "denrei-bridge", "service.instance.id": "bridge-1" },
  });
  const routed = await spanOf("route planters", {
    "denrei.object.name": "fern",
    "denrei.object.resource_version": metadata.resourceVersion,
  });
  expect(routed).toMatchObject({
    ...under(published),
    kind: "consumer",
    attributes: { "denrei.enqueued": 1, "denrei.function": "planters" },
    resource: { "service.name": "denrei-worker" },
  });
  // The controller manager changes the Deployment, and each change causes another reconcile.
  const reconciled = await spanOf("reconcile planters", { "denrei.key": "default/fern" }, routed);
  expect(reconciled).toMatchObject({
    ...under(routed),
    kind: "consumer",
    failed: false,
    attributes: {
      "denrei.attempt": 0,
      "denrei.cause": "object",
      "denrei.outcome": "success",
      "denrei.writes": 2,
    },
  });
  const applied = await spanOf("apply deployments", { "denrei.api.name": "fern" });
  expect(applied).toMatchObject({
    ...under(reconciled),
    kind: "client",
    failed: false,
    attributes: {
      "denrei.api.verb": "apply",
      "denrei.api.group": "apps",
      "denrei.api.resource": "deployments",
      "k8s.namespace.name": "default",
      "http.request.method": "PATCH",
      "http.response.status_code": 201,
    },
  });
  const status = await spanOf("patch planters/status", { "denrei.api.name": "fern" });
  expect(status).toMatchObject({ ...under(reconciled), attributes: { "http.response.status_code": 200 } });
  const times = [published, routed, reconciled, applied, status].map(({ startNanos }) => startNanos);
  expect(times).toEqual([...times].sort((a, b) => Number(a - b)));
});

test("the trace of a write links to the reconcile that wrote it, in any process", async () => {
  const written = await planterInTurn("moss");
  const { metadata } = await environment.client.get(Planter, { namespace: "default", name: "moss" });
  const version = {
    "denrei.object.name": "moss",
    "denrei.object.resource_version": metadata.resourceVersion,
  };
  const published = await spanOf("publish Planter", version);
  expect(published.traceId).not.toBe(written.traceId);
  const link = { traceId: written.traceId, spanId: written.spanId };
  const routed = await spanOf("route gardeners", version);
  expect(routed).toMatchObject({
    ...under(published),
    links: [link],
    resource: { "service.instance.id": "worker-2" },
  });
  await expect
    .poll(() => collector.spans.filter((span) => span.parentSpanId === routed.spanId).length, deadline)
    .toBe(1);
  // The object contains no trace of it.
  expect(JSON.stringify(metadata)).not.toContain(written.traceId);
});

test("a signed webhook joins its sender's trace, which ends in the reconcile, without other spans", async () => {
  await environment.client.create(
    Branch,
    {
      apiVersion: "test.denrei.dev/v1",
      kind: "Branch",
      metadata: { namespace: "default", name: "main" },
      spec: { repository: "acme/web", branch: "main" },
    },
    { fieldManager: "kubectl" },
  );
  await spanOf("reconcile branches", { "denrei.key": "default/main" });
  const [traceId, spanId] = [randomBytes(16).toString("hex"), randomBytes(8).toString("hex")];
  const headers = { traceparent: `00-${traceId}-${spanId}-01` };
  const hook = hookOf("push", push("acme/web", "main"));
  const unsigned = { ...hook.headers, ...headers, "x-hub-signature-256": `sha256=${"0".repeat(64)}` };
  expect(await post(gateway.hookUrl(), { ...hook, headers: unsigned })).toBe(401);
  expect(await post(gateway.hookUrl(), { ...hook, headers: { ...hook.headers, ...headers } })).toBe(202);
  const received = await spanOf("receive webhook", {});
  expect(received).toMatchObject({
    traceId,
    parentSpanId: spanId,
    kind: "server",
    attributes: {
      "http.response.status_code": 202,
      "denrei.webhook.provider": "github",
      "denrei.webhook.event": "push",
      "denrei.webhook.delivery": hook.delivery,
    },
    resource: { "service.name": "denrei-gateway" },
  });
  const routed = await spanOf("route branches", { "denrei.webhook.delivery": hook.delivery });
  expect(routed).toMatchObject({ ...under(received), attributes: { "denrei.enqueued": 1 } });
  expect(await spanOf("reconcile branches", { "denrei.cause": "webhook" })).toMatchObject(under(routed));
});

test("an object's content is not in its trace", async () => {
  const secret = "s3cret-in-a-spec";
  await planter("rose", { env: { KEY: secret }, labels: { [secret]: secret } });
  await spanOf("patch planters/status", { "denrei.api.name": "rose" });
  expect(collector.requests.filter(({ body }) => body.includes(secret))).toEqual([]);
});
