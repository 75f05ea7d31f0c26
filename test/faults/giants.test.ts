/** Objects larger than a message on the bus are reconciled, found, and finalized like others. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { apiVersionOf, externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { connectBus } from "../../bus/nats/connect.ts";
import { streams } from "../../bus/subjects.ts";
import { Giant } from "../fixtures/functions/giants.ts";
import { startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";

const Event = externalKind<KubeObject & { reason: string; regarding: { name: string } }>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
});
const giants = fileURLToPath(new URL("../fixtures/functions/giants.ts", import.meta.url));
/** Larger than NATS's message limit of 1 MiB, and smaller than etcd's object limit of 1.5 MiB. */
const length = 1_200_000;
const at = (name: string) => ({ namespace: "default", name });
let environment: TestEnvironment;

beforeAll(async () => {
  environment = await startTestEnvironment({ crds: [crdOf(Giant)] });
  await environment.bridge("bridge-1", { args: [giants] });
  await environment.worker("worker-1", [giants]);
});
afterAll(() => environment?.stop());

const create = (name: string, text: string, color: string) =>
  environment.client.create(
    Giant,
    { apiVersion: apiVersionOf(Giant), kind: "Giant", metadata: at(name), spec: { text, color } },
    { fieldManager: "test" },
  );
const change = (name: string, text: string) =>
  environment.client.mergePatch(Giant, at(name), { spec: { text } }, { fieldManager: "test" });
const isOversized = ({ status }: Giant) =>
  status?.conditions?.some(({ type, status: is }) => type === "Oversized" && is === "True") ?? false;

test("an object created large is reconciled, and gets a condition and an Event", async () => {
  await create("large", "x".repeat(length), "red");
  await create("small", "x", "red");
  const large = await environment.until(Giant, at("large"), isOversized);
  expect(large.status?.length).toBe(length);
  const reasons = async () =>
    (await environment.list(Event)).flatMap(({ reason, regarding }) =>
      regarding.name === "large" ? [reason] : [],
    );
  await expect.poll(reasons).toEqual(["ExceedsMaxPayload"]);
  // Its index entry and its watch work like those of small objects.
  for (const name of ["large", "small"])
    await environment.until(Giant, at(name), ({ status }) => status?.siblings?.join() === "large,small");
});

test("an object that grows is reconciled, and its condition is removed once it shrinks", async () => {
  await create("grows", "x", "blue");
  await environment.until(Giant, at("grows"), ({ status }) => status?.length === 1);
  await change("grows", "x".repeat(length));
  await environment.until(
    Giant,
    at("grows"),
    (giant) => giant.status?.length === length && isOversized(giant),
  );
  await change("grows", "xx");
  await environment.until(Giant, at("grows"), (giant) => giant.status?.length === 2 && !isOversized(giant));
});

test("existing large objects are found after the index stream was deleted", async () => {
  await create("before", "x", "black");
  await environment.until(Giant, at("before"), ({ status }) => status?.siblings?.join() === "before");
  const bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  onTestFinished(() => bus.nc.close());
  await bus.jsm.streams.delete(streams.indexes);
  await create("later", "x", "black");
  for (const name of ["before", "later"])
    await environment.until(Giant, at(name), ({ status }) => status?.siblings?.join() === "before,later");
});

test("a large object is finalized when it is deleted", async () => {
  await create("goes", "x".repeat(length), "green");
  await environment.until(Giant, at("goes"), isOversized);
  await environment.client.delete(Giant, at("goes"), {});
  await environment.untilGone(Giant, at("goes"));
});
