/** Scheduled retries: listed with their reason, and dropped once the object is reconciled. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Publisher } from "../../bus/bridge/publisher.ts";
import { listRequests } from "../../bus/inspect/requests.ts";
import { functionStatus } from "../../bus/inspect/status.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import { conditions } from "../../bus/kube/fields.ts";
import { apiVersionOf, defineKind } from "../../bus/kube/kind.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { newRequest } from "../../bus/queue/request.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import type { Worker } from "../../bus/worker/worker.ts";
import { startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { publisherOf } from "../harness/publish.ts";
import { startTestWorker } from "../harness/testworker.ts";

const Errand = defineKind({
  group: "test.denrei.dev",
  version: "v1",
  kind: "Errand",
  description: "Work that is blocked until its spec says otherwise.",
  spec: z.object({ blocked: z.boolean() }),
  status: z.object({ conditions: conditions("Ready") }),
});
const errands = defineFunction({
  name: "errands",
  for: Errand,
  async reconcile({ spec }) {
    if (spec.blocked) throw new BlockedError("ShopClosed", "the shop is closed", 600_000);
  },
});

let environment: TestEnvironment;
let bus: Bus;
let publisher: Publisher;
const workers: Worker[] = [];
const busOptions = { replicas: 1, ackWaitMillis: 10_000 };
const scope = { fn: errands.name, cluster: "test" };
const polling = { timeout: 60_000, interval: 50 };

const listed = async (name: string) =>
  (await listRequests(bus, scope)).filter(({ key }) => key.name === name);
const stalledReason = async (name: string) =>
  (await environment.client.get(Errand, { namespace: "default", name })).status?.conditions?.find(
    ({ type }) => type === "Stalled",
  )?.reason;

async function startReplica(): Promise<Worker> {
  const worker = await startTestWorker({
    bus,
    busOptions,
    client: environment.client,
    replica: `replica-${workers.length + 1}`,
    functions: [errands],
  });
  workers.push(worker);
  return worker;
}

/** Creates a blocked errand; resolves when its retry is scheduled. */
async function createBlocked(name: string): Promise<void> {
  const errand = {
    ...{ apiVersion: apiVersionOf(Errand), kind: Errand.kind },
    metadata: { namespace: "default", name },
    spec: { blocked: true },
  };
  const created = await environment.client.create(Errand, errand, { fieldManager: "test" });
  await publisher.publish("added", created, "watch");
  await expect.poll(() => listed(name), polling).toMatchObject([{ state: "retrying" }]);
  await expect.poll(() => stalledReason(name), polling).toBe("ShopClosed");
}

/** Unblocks the errand, publishes the change, and resolves when the errand is reconciled. */
async function unblock(name: string): Promise<void> {
  const at = { namespace: "default", name };
  const changed = await environment.client.mergePatch(
    Errand,
    at,
    { spec: { blocked: false } },
    { fieldManager: "test" },
  );
  await publisher.publish("modified", changed, "watch");
  await expect.poll(() => stalledReason(name), polling).toBeUndefined();
}

beforeAll(async () => {
  environment = await startTestEnvironment({ crds: [crdOf(Errand)] });
  bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  await ensureTopology(bus, busOptions);
  await startReplica();
  publisher = await publisherOf(bus, Errand);
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await bus?.nc.close();
  await environment?.stop();
});

test("lists a retry with its reason and due time", async () => {
  await createBlocked("listed");
  const [request] = await listed("listed");
  expect(request).toMatchObject({ state: "retrying", reason: "ShopClosed", attempt: 0 });
  expect(request?.dueAt).toBeGreaterThan((request?.storedAt ?? 0) + 500_000);
  expect(await functionStatus(bus, errands, scope.cluster)).toMatchObject({ delayed: 1, retrying: 1 });
  await unblock("listed");
  await expect.poll(() => listed("listed"), polling).toEqual([]);
});

test("drops a retry set by another replica when the object is reconciled", async () => {
  await createBlocked("elsewhere");
  await workers.pop()?.stop();
  await startReplica();
  await unblock("elsewhere");
  await expect.poll(() => listed("elsewhere"), polling).toEqual([]);
});

test("drops a retry when the object is deleted", async () => {
  await createBlocked("deleted");
  await environment.client.delete(Errand, { namespace: "default", name: "deleted" }, {});
  const { metadata } = await environment.client.list(Errand, "default", {});
  await publisher.vanished("default/deleted", metadata.resourceVersion);
  await expect.poll(() => listed("deleted"), polling).toEqual([]);
});

test("keeps the retry of a replay when an event reconciles the object", async () => {
  await createBlocked("replayed");
  const key = { namespace: "default", name: "replayed" };
  const queue = ticketQueue(bus, scope, { replica: "test" });
  await queue.request(key, newRequest({ type: "replay" }));
  await expect.poll(() => listed("replayed"), polling).toMatchObject([{ cause: { type: "replay" } }]);
  await unblock("replayed");
  // The only entry: the worker has handled the event and acknowledged its ticket.
  await expect
    .poll(() => listed("replayed"), polling)
    .toMatchObject([{ state: "retrying", cause: { type: "replay" } }]);
});
