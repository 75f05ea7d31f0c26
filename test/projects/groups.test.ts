/** The worker of a group, on a real bus as the group's user. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { connectBus } from "../../bus/nats/connect.ts";
import { BusPermissionError } from "../../bus/nats/permissionerror.ts";
import { consumersOf } from "../../bus/permissions.ts";
import { openProject } from "../../bus/project/project.ts";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { activity, indexes, work } from "../../bus/subjects.ts";
import { ensureFunctions } from "../../bus/topology.ts";
import { subscriptionsOf } from "../../bus/worker/function.ts";
import { clusterRoles } from "../../deploy/authorization.ts";
import { projectLayout } from "../../deploy/generate/layout.ts";
import { type LocalNats, startLocalNats } from "../../deploy/local/index.ts";
import planters, { Planter } from "../fixtures/functions/planters.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import { Sticker } from "../fixtures/functions/stickers.ts";
import { Clock } from "../fixtures/groups/clock.ts";
import { type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";
import { projectIn } from "../harness/projects.ts";
import { has, openTestObjects, type TestObjects } from "../harness/testobjects.ts";
import { fireTimer } from "../harness/timers.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";
import type { GatewayReplica, Replica } from "../ket/replica.ts";
import { refusesPublish } from "../security/parties.ts";

const folder = fileURLToPath(new URL("../fixtures/groups", import.meta.url));
const cluster = "default";
const at = { namespace: "default", name: "one" };

let environment: LocalTestEnvironment;
let nats: LocalNats;
let objects: TestObjects;
let worker: Replica;
let gateway: GatewayReplica;
beforeAll(async () => {
  const layout = await projectLayout(await openProject(folder), { profile: "standard" });
  const crds = [Clock, Planter, Probe, Sticker].map((kind) => crdOf(kind));
  environment = await startLocalTestEnvironment({ crds });
  nats = await startLocalNats({ roles: clusterRoles(layout, cluster) });
  const { client, platform } = environment;
  const house = layout.workers.find(({ name }) => name === "house")?.functions ?? [];
  objects = await openTestObjects({ client, platform: nats }, house, []);
  const project = projectIn(folder).on({ kubeconfigPath: platform.kubeconfigPath, nats });
  await project.bridge("bridge-1");
  [worker, gateway] = await Promise.all([project.worker("worker-1", "house"), project.gateway("gateway-1")]);
});
afterAll(async () => {
  await objects?.close();
  await nats?.stop();
  await environment?.stop();
});

test("the user of a group may do all that its functions need", async () => {
  await objects.create(Clock, { metadata: at, spec: {} });
  await environment.until(Clock, at, ({ status }) => status?.ticks === 0);
  await fireTimer(objects, "clocks", at);
  await environment.until(Clock, at, ({ status }) => status?.ticks === 1);

  await objects.create(Probe, { metadata: at, spec: { mode: "terminal" } });
  await environment.until(Probe, at, has("Stalled", "True"));
  await expect.poll(() => deadLetters(objects.bus, { fn: "probe", cluster }).get(at)).toBeDefined();

  await objects.create(Planter, { metadata: { ...at, labels: { inspected: "yes" } }, spec: {} });
  await worker.log.until((line) => line.includes('"msg":"inspected"'));

  await objects.create(Sticker, { metadata: at, spec: { repository: "acme/web" } });
  // A webhook finds the object when it is in the index.
  await objects.untilQuiet();
  const hook = hookOf("push", push("acme/web", "main"));
  expect(await post(gateway.hookUrl(), hook)).toBe(202);
  await environment.until(Sticker, at, ({ status }) => status?.delivery === hook.delivery);
  expect(worker.log.records().filter(({ msg }) => msg === "permission denied by the bus")).toEqual([]);
});

test("the bus refuses to the user of a group what a function of another group needs", async () => {
  const bus = await connectBus({ url: nats.natsUrlFor("house"), name: "test-house" });
  onTestFinished(() => bus.nc.close());
  const subscriptions = subscriptionsOf([planters], cluster);
  await expect(ensureFunctions(bus, { replicas: 1, ackWaitMillis: 10_000 }, subscriptions)).rejects.toThrow(
    BusPermissionError,
  );
  const scope = { fn: planters.name, cluster };
  const needed = [
    work.ticket(scope, at),
    work.timer(scope, at),
    work.deadLetter(scope, at),
    work.crashes(scope, at),
    activity.of(scope, at),
    indexes.entry(scope, "water", "w", at),
    ...subscriptions
      .flatMap(consumersOf)
      .flatMap(([stream, consumer]) => [
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
        `$JS.ACK.${stream}.${consumer}.1.1.1.1.0`,
      ]),
  ];
  for (const subject of needed)
    expect([subject, await refusesPublish(bus, subject)]).toEqual([subject, true]);
});
