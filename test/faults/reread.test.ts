/** A child that changes after a reconcile has read it: the owner is reconciled again. */
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Publisher } from "../../bus/bridge/publisher.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import { defineKind } from "../../bus/kube/kind.ts";
import { controllerReference, type Stored } from "../../bus/kube/object.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import type { Worker } from "../../bus/worker/worker.ts";
import { startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { publisherOf } from "../harness/publish.ts";
import { startTestWorker } from "../harness/testworker.ts";
import { objectOf, write } from "./obstacles.ts";

const kindOf = (kind: string) =>
  defineKind({ group: "test.denrei.dev", version: "v1", kind, description: kind, spec: z.object({}) });
const Parent = kindOf("Parent");
const Labeler = kindOf("Labeler");
const Maker = kindOf("Maker");
const Child = kindOf("Child");
const kinds = [Parent, Labeler, Maker, Child];

/** Blocks the first reconcile between its reads. */
const between = Promise.withResolvers<void>();
/** The children that each reconcile found, at its first and its last read. */
const reconciles: [number, number][] = [];
const parentsFunction = defineFunction({
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
});

/** Blocks the first reconcile between its read and its apply. */
const beforeApply = Promise.withResolvers<void>();
/** The colors that each reconcile found. */
const colors: (string | undefined)[] = [];
/** The labels that each reconcile left. */
const labels: object[] = [];
const labelersFunction = defineFunction({
  name: "labelers",
  for: Labeler,
  owns: [Child],
  async reconcile(_, ctx) {
    const color = (await ctx.read.get(Child, "labeled"))?.metadata.labels?.color;
    colors.push(color);
    await beforeApply.promise;
    const child = { metadata: { name: "labeled", labels: { seen: color ?? "none" } }, spec: {} };
    labels.push({ ...(await ctx.apply(Child, child)).metadata.labels });
  },
});

/** Blocks the first reconcile between its read and its create. */
const beforeCreate = Promise.withResolvers<void>();
/** Whether each reconcile found the child. */
const finds: boolean[] = [];
const makersFunction = defineFunction({
  name: "makers",
  for: Maker,
  owns: [Child],
  async reconcile(_, ctx) {
    finds.push((await ctx.read.get(Child, "made")) !== undefined);
    await beforeCreate.promise;
    await ctx.create(Child, { metadata: { name: "made" }, spec: {} });
  },
});

let environment: TestEnvironment;
let bus: Bus;
let worker: Worker;
const registry = new Registry();
const publishers = new Map<typeof Child, Publisher>();
const publisher = (kind: typeof Child): Publisher => publishers.get(kind) as Publisher;

beforeAll(async () => {
  environment = await startTestEnvironment({ crds: kinds.map((kind) => crdOf(kind)) });
  bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  const busOptions = { replicas: 1, ackWaitMillis: 10_000 };
  await ensureTopology(bus, busOptions);
  worker = await startTestWorker({
    bus,
    busOptions,
    client: environment.client,
    functions: [parentsFunction, labelersFunction, makersFunction],
    registry,
  });
  for (const kind of kinds) publishers.set(kind, await publisherOf(bus, kind));
});
afterAll(async () => {
  await worker?.stop();
  await bus?.nc.close();
  await environment?.stop();
});

/** The number of events of a function that found their key owned and left a mark. */
async function marksLeft(fn: string): Promise<number> {
  const metric = await registry.getSingleMetric("denrei_requests_coalesced_total")?.get();
  return metric?.values.find(({ labels }) => labels.name === fn)?.value ?? 0;
}

/** An owner and a child that it controls, as stored in the API server. */
async function createFamily(owner: typeof Parent, childName: string): Promise<[Stored, Stored]> {
  const parent = (await environment.client.create(
    owner,
    objectOf(owner, "parent", "default", { spec: {} }) as never,
    write,
  )) as Stored;
  const made = objectOf(Child, childName, "default", { spec: {} });
  const owned = { ...made, metadata: { ...made.metadata, ownerReferences: [controllerReference(parent)] } };
  return [parent, (await environment.client.create(Child, owned as never, write)) as Stored];
}

test("a child that is missing at the second read enqueues its owner again", async () => {
  const [parent, child] = await createFamily(Parent, "child");
  await publisher(Child).publish("added", child, "watch");
  await publisher(Parent).publish("added", parent, "watch");
  await expect.poll(() => reconciles.length).toBe(1);
  const resourceVersion = String(Number(child.metadata.resourceVersion) + 1);
  await publisher(Child).publish(
    "deleted",
    { ...child, metadata: { ...child.metadata, resourceVersion } },
    "watch",
  );
  const at = { namespace: "default", name: "child" };
  const isDeleted = async () => (await objectStore(bus, "test").entry(Child, at))?.deleted;
  await expect.poll(isDeleted).toBe(true);
  // One mark of the parent's event or of the child's first one, whichever is routed later, and one of the deletion.
  await expect.poll(() => marksLeft("parents")).toBe(2);
  between.resolve();
  await expect
    .poll(() => reconciles)
    .toEqual([
      [1, 0],
      [0, 0],
    ]);
});

test("a change between the read and the apply enqueues the owner again, even if its event is never published", async () => {
  const [labeler, child] = await createFamily(Labeler, "labeled");
  await publisher(Child).publish("added", child, "watch");
  await publisher(Labeler).publish("added", labeler, "watch");
  await expect.poll(() => colors.length).toBe(1);
  await environment.client.mergePatch(
    Child,
    child.metadata,
    { metadata: { labels: { color: "red" } } },
    write,
  );
  beforeApply.resolve();
  await expect.poll(() => labels[0]).toMatchObject({ color: "red", seen: "none" });
  await publisher(Child).publish("modified", await environment.client.get(Child, child.metadata), "watch");
  await expect
    .poll(() => labels)
    .toMatchObject([
      { color: "red", seen: "none" },
      { color: "red", seen: "red" },
    ]);
  expect(colors).toEqual([undefined, "red"]);
});

test("a child found by a create enqueues the owner, which had decided without it", async () => {
  const [maker, child] = await createFamily(Maker, "made");
  await publisher(Maker).publish("added", maker, "watch");
  await expect.poll(() => finds).toEqual([false]);
  await publisher(Child).publish("added", child, "watch");
  await expect.poll(() => marksLeft("makers")).toBe(1);
  beforeCreate.resolve();
  await expect.poll(() => finds).toEqual([false, true]);
});
