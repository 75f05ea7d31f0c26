/** A child that changes between two reads of one reconcile: decisions that used the first read are made again. */
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Publisher } from "../../bus/bridge/publisher.ts";
import { type Bus, connectBus } from "../../bus/connect.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import { defineKind } from "../../bus/kube/kind.ts";
import { controllerReference, type Stored } from "../../bus/kube/object.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import { startWorker, type Worker } from "../../bus/worker/worker.ts";
import { type Kit, startKit } from "../harness/kit.ts";
import { publisherOf } from "../harness/publish.ts";
import { objectOf, write } from "./obstacles.ts";

const kindOf = (kind: string) =>
  defineKind({ group: "test.denrei.dev", version: "v1", kind, description: kind, spec: z.object({}) });
const Parent = kindOf("Parent");
const Child = kindOf("Child");

let kit: Kit;
let bus: Bus;
let worker: Worker;
let parents: Publisher;
let children: Publisher;
/** What the first reconcile waits for between its reads. */
const between = Promise.withResolvers<void>();
/** The children that each reconcile has found, at its first and its last read. */
const reconciles: [number, number][] = [];

beforeAll(async () => {
  kit = await startKit({ crds: [Parent, Child].map(crdOf) });
  bus = await connectBus({ url: kit.platform.natsUrl, name: "test" });
  const busOptions = { replicas: 1, ackWaitMillis: 10_000 };
  await ensureTopology(bus, busOptions);
  worker = await startWorker({
    ...{ bus, busOptions, client: kit.client, cluster: "test", replica: "replica-1" },
    functions: [
      defineFunction({
        name: "parents",
        for: Parent,
        owns: [Child],
        async reconcile(_, ctx) {
          const count = async () => (await ctx.read.children(Child)).length;
          const found: [number, number] = [await count(), 0];
          reconciles.push(found);
          if (found[0] > 0) await between.promise;
          found[1] = await count();
        },
      }),
    ],
    log: pino({ level: "silent" }),
    registry: new Registry(),
  });
  [parents, children] = await Promise.all([publisherOf(bus, Parent), publisherOf(bus, Child)]);
});
afterAll(async () => {
  await worker?.stop();
  await bus?.nc.close();
  await kit?.stop();
});

test("a child that is gone at the second read wakes its owner again", async () => {
  const parent = (await kit.client.create(
    Parent,
    objectOf(Parent, "parent", "default", { spec: {} }) as never,
    write,
  )) as Stored;
  const made = objectOf(Child, "child", "default", { spec: {} });
  const owned = { ...made, metadata: { ...made.metadata, ownerReferences: [controllerReference(parent)] } };
  const child = (await kit.client.create(Child, owned as never, write)) as Stored;
  await children.publish("added", child, "watch");
  await parents.publish("added", parent, "watch");
  await expect.poll(() => reconciles.length).toBe(1);
  const resourceVersion = String(Number(child.metadata.resourceVersion) + 1);
  await children.publish("deleted", { ...child, metadata: { ...child.metadata, resourceVersion } }, "watch");
  const at = { namespace: "default", name: "child" };
  const isDeleted = async () => (await objectStore(bus, "test").entry(Child, at))?.deleted;
  await expect.poll(isDeleted).toBe(true);
  between.resolve();
  await expect
    .poll(() => reconciles)
    .toEqual([
      [1, 0],
      [0, 0],
    ]);
});
