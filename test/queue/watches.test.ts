/** Watches with selectors and projections, with the real streams: which changes request a reconcile. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Publisher } from "../../bus/bridge/publisher.ts";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { machineClock } from "../../bus/nats/busclock.ts";
import { tidyWatchRecords } from "../../bus/objects/indextidy.ts";
import { watched } from "../../bus/objects/watchsubjects.ts";
import { consumers, type ObjectKey, streams } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { defineFunction, subscriptionOf } from "../../bus/worker/function.ts";
import type { Worker } from "../../bus/worker/worker.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";
import { publisherOf, stored } from "../harness/publish.ts";
import { startTestWorker } from "../harness/testworker.ts";

type Lamp = KubeObject<{ readonly color: string }, { readonly watts: number }>;
const Lamp = externalKind<Lamp>({ group: "test.denrei.dev", version: "v1", kind: "Lamp", plural: "lamps" });

const reconciled: string[] = [];
const fn = defineFunction({
  name: "lamps",
  for: Note,
  watches: [
    {
      kind: Lamp,
      labels: { matchLabels: { lit: "yes" } },
      changed: ({ spec }) => spec.color,
      keys: ({ metadata: { namespace = "", labels } }): ObjectKey[] => [
        { namespace, name: (labels as { readonly note: string }).note },
      ],
    },
  ],
  async reconcile({ metadata: { name } }) {
    reconciled.push(name);
    return undefined;
  },
});
const scope = { fn: fn.name, cluster: "test" };
const subscription = subscriptionOf(fn, scope.cluster);
const busOptions = { replicas: 1, ackWaitMillis: 3000 };

let local: LocalBus;
let publisher: Publisher;
const workers: Worker[] = [];
beforeAll(async () => {
  local = await startLocalBus();
  await ensureTopology(local.bus, busOptions, [subscription]);
  publisher = await publisherOf(local.bus, Lamp);
  const notes = await publisherOf(local.bus, Note);
  for (const name of ["one", "two"])
    await notes.publish("added", stored(Note, name, 1, { text: "" }), "watch");
  await notes.settled();
  const { bus } = local;
  for (let at = 0; at < 2; at++) workers.push(await startTestWorker({ bus, busOptions, functions: [fn] }));
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await local?.stop();
});

let version = 1;
interface Look {
  readonly note?: string;
  readonly lit?: "yes" | "no";
  readonly color?: string;
  readonly watts?: number;
}

function lamp(name: string, { note, lit = "yes", color = "red", watts = 1 }: Look): Stored<Lamp> {
  const object = stored(Lamp, name, ++version, { color });
  const labels = note === undefined ? { lit } : { lit, note };
  return { ...object, metadata: { ...object.metadata, labels }, status: { watts } };
}

const consumersIdle = async (): Promise<boolean> => {
  const infos = await Promise.all([
    local.bus.jsm.consumers.info(streams.objects, consumers.router(subscription)),
    local.bus.jsm.consumers.info(`WORK_${fn.name}`, consumers.worker(scope)),
  ]);
  return infos.every(({ num_pending, num_ack_pending }) => num_pending + num_ack_pending === 0);
};
const idle = () => expect.poll(consumersIdle, { timeout: 30_000 }).toBe(true);

/** The notes that are reconciled after a change. */
async function after(change: "added" | "modified" | "deleted", object: Stored<Lamp>): Promise<string[]> {
  reconciled.length = 0;
  await publisher.publish(change, object, "watch");
  await publisher.settled();
  await idle();
  return [...reconciled].sort();
}

const records = async (): Promise<string[]> => {
  const subjects_filter = watched.all(scope);
  const { state } = await local.bus.jsm.streams.info(streams.indexes, { subjects_filter });
  return Object.keys(state.subjects ?? {});
};

beforeEach(idle);

test("only changes of the projection request, and the object's beginning and end", async () => {
  expect(await after("added", lamp("a", { note: "one" }))).toEqual(["one"]);
  for (const watts of [2, 3, 4])
    expect(await after("modified", lamp("a", { note: "one", watts }))).toEqual([]);
  expect(await after("modified", lamp("a", { note: "one", color: "blue" }))).toEqual(["one"]);
  expect(await after("modified", lamp("a", { note: "one", color: "blue", watts: 5 }))).toEqual([]);
  expect(await after("modified", lamp("a", { note: "one", color: "red" }))).toEqual(["one"]);
  expect(await after("deleted", lamp("a", { note: "one" }))).toEqual(["one"]);
  expect(await after("added", lamp("a", { note: "one", color: "red" }))).toEqual(["one"]);
});

test("an object outside of the selector requests nothing, and has no record", async () => {
  const before = await records();
  expect(await after("added", lamp("dark", { note: "one", lit: "no" }))).toEqual([]);
  expect(await after("modified", lamp("dark", { note: "one", lit: "no", color: "blue" }))).toEqual([]);
  expect(await after("deleted", lamp("dark", { note: "one", lit: "no" }))).toEqual([]);
  expect(await records()).toEqual(before);
});

test("an object that leaves the selector requests its last keys once, even without the label that named them", async () => {
  expect(await after("added", lamp("leaving", { note: "two" }))).toEqual(["two"]);
  expect(await after("modified", lamp("leaving", { lit: "no" }))).toEqual(["two"]);
  expect(await after("modified", lamp("leaving", { lit: "no", color: "blue" }))).toEqual([]);
  expect(await after("modified", lamp("leaving", { note: "one", color: "blue" }))).toEqual(["one"]);
});

test("a change that moves an object to other keys requests both", async () => {
  expect(await after("added", lamp("moving", { note: "one" }))).toEqual(["one"]);
  expect(await after("modified", lamp("moving", { note: "two", color: "blue" }))).toEqual(["one", "two"]);
  expect(await after("modified", lamp("moving", { note: "two", color: "red" }))).toEqual(["two"]);
});

test("a version that another replaced before its delivery counts as a change", async () => {
  await after("added", lamp("busy", { note: "one" }));
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  reconciled.length = 0;
  await publisher.publish("modified", lamp("busy", { note: "one", color: "blue" }), "watch");
  await publisher.settled();
  await publisher.publish("modified", lamp("busy", { note: "one", color: "red" }), "watch");
  await publisher.settled();
  workers.push(await startTestWorker({ bus: local.bus, busOptions, functions: [fn] }));
  await idle();
  expect(reconciled).toEqual(["one"]);
  expect(await after("modified", lamp("busy", { note: "one", watts: 9 }))).toEqual([]);
});

test("tidying removes records of forgotten objects only", async () => {
  await after("added", lamp("kept", { note: "one" }));
  await after("added", lamp("forgotten", { note: "one" }));
  const before = await records();
  const filter = `objects.${scope.cluster}.test=2Edenrei=2Edev.Lamp.default.*.forgotten`;
  expect(await local.bus.jsm.streams.purge(streams.objects, { filter })).toMatchObject({ purged: 1 });
  const { bus } = local;
  const tidy = (minimumAgeMillis?: number) =>
    tidyWatchRecords({
      ...{ bus, scope, clock: machineClock, signal: new AbortController().signal },
      ...(minimumAgeMillis !== undefined && { minimumAgeMillis }),
    });
  expect(await tidy()).toBe(0);
  expect(await tidy(-60_000)).toBe(1);
  const left = before.filter((subject) => !subject.endsWith(".forgotten"));
  await expect.poll(records, { timeout: 30_000 }).toEqual(left);
});
