/** Requests blocked by something outside their object: reported, retried until unblocked, and never dead-lettered. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Publisher } from "../../bus/bridge/publisher.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import { conditions } from "../../bus/kube/fields.ts";
import { defineKind } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import type { Worker } from "../../bus/worker/worker.ts";
import { startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { createNamespace } from "../harness/namespaces.ts";
import { publisherOf } from "../harness/publish.ts";
import { startTestWorker } from "../harness/testworker.ts";
import { blockedNamespaces, type Obstacle, objectOf, obstacles, write } from "./obstacles.ts";

const Errand = defineKind({
  group: "test.denrei.dev",
  version: "v1",
  kind: "Errand",
  description: "A task that others can block.",
  spec: z.object({ blockedBy: z.string() }),
  status: z.object({ conditions: conditions("Ready") }),
});

let environment: TestEnvironment;
let bus: Bus;
let worker: Worker;
let publisher: Publisher;
const tries = new Map<string, number>();
const names = Object.keys(obstacles);
const scope = { fn: "errands", cluster: "test" };

beforeAll(async () => {
  environment = await startTestEnvironment({ crds: [crdOf(Errand)] });
  bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  const { client } = environment;
  for (const name of blockedNamespaces) await createNamespace(client, name);
  const busOptions = { replicas: 1, ackWaitMillis: 10_000 };
  await ensureTopology(bus, busOptions);
  worker = await startTestWorker({
    bus,
    busOptions,
    client,
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
    retries: { baseMillis: 50, capMillis: 200, maxAttempts: 2, maxCrashes: 3 },
  });
  publisher = await publisherOf(bus, Errand);
});
afterAll(async () => {
  await worker?.stop();
  for (const name of names) await obstacles[name]?.unblock(environment.client).catch(() => undefined);
  await bus?.nc.close();
  await environment?.stop();
});

test.each(names)("retries an object until it is unblocked from a %s", async (name) => {
  const { reason, names: who, block, unblock } = obstacles[name] as Obstacle;
  const { client } = environment;
  const stalled = async () => {
    const { status } = await client.get(Errand, { namespace: "default", name });
    return status?.conditions?.find(({ type }) => type === "Stalled");
  };

  await block(client);
  const errand = objectOf(Errand, name, "default", { spec: { blockedBy: name } });
  await publisher.publish("added", (await client.create(Errand, errand as never, write)) as Stored, "watch");
  await expect.poll(() => tries.get(name)).toBeGreaterThan(4);
  await expect.poll(stalled).toMatchObject({ status: "True", reason, message: expect.stringContaining(who) });
  expect(await deadLetters(bus, scope).list()).toEqual([]);

  await unblock(client);
  await expect.poll(() => tries.get(name)).toBeNaN();
  await expect.poll(stalled).toBeUndefined();
});
