/** Garbage on every subject that the platform reads: the reader logs it and goes on, and valid messages are still served. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { headers } from "@nats-io/transport-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { leaseKey, positionKey } from "../../bus/bridge/position.ts";
import { kindStatuses } from "../../bus/inspect/status.ts";
import { controllerReference, type KubeObject, type Stored } from "../../bus/kube/object.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { openCrashRecords } from "../../bus/queue/crashrecords.ts";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { timers } from "../../bus/queue/timers.ts";
import {
  consumers,
  objectSubject,
  type QueueScope,
  streams,
  timersStream,
  token,
  work,
  workStream,
} from "../../bus/subjects.ts";
import { subscriptionOf } from "../../bus/worker/function.ts";
import { Note } from "../fixtures/functions/notes.ts";
import shelves, { childText, Shelf } from "../fixtures/functions/shelves.ts";
import { publishRaw } from "../fixtures/rawpublish.ts";
import { type Bridged, type BridgeReplica, startBridged } from "../harness/bridged.ts";
import type { Replica } from "../harness/environment.ts";
import { random } from "../harness/random.ts";
import { readSightings } from "../prove/shelfchecks.ts";

const functionPath = fileURLToPath(new URL("../fixtures/functions/shelves.ts", import.meta.url));
const scope: QueueScope = { fn: "shelves", cluster: "default" };
const next = random(Number(process.env.DENREI_SEED ?? 1));
const polling = { timeout: 60_000, interval: 50 };
const at = (name: string) => ({ namespace: "default", name });
let bridged: Bridged;
let bridge: BridgeReplica;
let worker: Replica;
let journals: string;

beforeAll(async () => {
  bridged = await startBridged([Shelf]);
  journals = join(bridged.environment.platform.directory, "sightings");
  await mkdir(journals);
  [bridge, worker] = await Promise.all([
    bridged.bridge("bridge", { args: [functionPath] }),
    bridged.environment.worker("worker", [functionPath], { env: { DENREI_TEST_JOURNALS: journals } }),
  ]);
});
afterAll(() => bridged?.stop());

const shelf = (name: string): Promise<Stored<Shelf>> =>
  bridged.environment.client.create(
    Shelf,
    { apiVersion: "test.denrei.dev/v1", kind: "Shelf", metadata: at(name), spec: { text: "good" } },
    { fieldManager: "test" },
  );

/** Waits until the last reconcile saw the shelf and all of these notes. */
async function expectServed(name: string, notes: readonly Stored<Note>[]): Promise<void> {
  const wanted = notes.map(childText).sort();
  await expect
    .poll(async () => (await readSightings(journals)).findLast((one) => one.name === name)?.children, polling)
    .toEqual(wanted);
}

/** A new shelf with a note is reconciled, which takes the bridge, the router, and the queue. */
async function expectGoodService(tag: string): Promise<Stored<Shelf>> {
  const owner = await shelf(`good-${tag}`);
  const note = await bridged.create(`good-${tag}`, { ownerReferences: [controllerReference(owner)] });
  await expectServed(`good-${tag}`, [note]);
  return owner;
}

const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)] as T;
const bodies = [
  "",
  "null",
  "[]",
  "{}",
  '{"metadata":null}',
  "{",
  "\u0000",
  '"text"',
  "1e999",
  '{"cause":{"type":"object"}}',
];
const ids = ["", "%", "%E0%A4%A", "uid", "uid.", "uid.x", ".1", "uid.5"];
const types = ["", "%zz", "dev.denrei.kubernetes.added", "dev.denrei.kubernetes.deleted", "else"];

/** Stores a garbage message with CloudEvent headers or without headers. */
async function litter(subject: string): Promise<void> {
  const all = headers();
  if (next() < 0.8) {
    all.set("ce-id", pick(ids));
    all.set("ce-type", pick(types));
  }
  await bridged.bus.js.publish(subject, pick(bodies), { headers: all });
}

/** Waits until every message stored for a consumer has been delivered and acknowledged. */
const untilAnswered = (stream: string, consumer: string): Promise<void> =>
  expect
    .poll(async () => {
      const { num_pending, num_ack_pending } = await bridged.bus.jsm.consumers.info(stream, consumer);
      return num_pending + num_ack_pending;
    }, polling)
    .toBe(0);

/** Lines of the worker's log with this text. A line may arrive after the effect that it reports. */
const logged = (text: string): number => worker.log.all.filter((line) => line.includes(text)).length;

const alive = (): void => {
  expect(worker.log.all.filter((line) => line.includes('"level":"fatal"'))).toEqual([]);
  expect(worker.pid).toBeDefined();
  expect(bridge.pid).toBeDefined();
};

test("in OBJECTS it is logged and ignored on every form of subject", async () => {
  const owner = await expectGoodService("before");
  const subjects = [
    "objects.default.test=2Edenrei=2Edev.Note",
    "objects.default.test=2Edenrei=2Edev.Note.=zz.=FF.x",
    "objects.default.test=2Edenrei=2Edev.Shelf.default._.=2E=2E",
    "objects.default.test=2Edenrei=2Edev.Shelf.default._.a=2Fb",
    "objects.default.test=2Edenrei=2Edev.Note.a.b.c.d.e",
  ].filter((subject) => subject !== "objects.default.test=2Edenrei=2Edev.Note");
  for (let times = 0; times < 40; times++) {
    const address = { group: Note.group, namespace: "default", name: `garbage-${times}` };
    const own = objectSubject("default", {
      ...address,
      kind: pick(["Note", "Shelf"]),
      owner: pick(["", owner.metadata.uid]),
    });
    await litter(next() < 0.4 ? pick(subjects) : own);
  }
  await untilAnswered(streams.objects, consumers.router(subscriptionOf(shelves, scope.cluster)));
  // Some of it is among the children of this shelf.
  const note = await bridged.create("beside-garbage", { ownerReferences: [controllerReference(owner)] });
  const first = await bridged.environment.client.get(Note, at("good-before"));
  await expectServed("good-before", [first, note]);
  await expectGoodService("objects");
  await expect.poll(() => logged("not an event of the platform"), polling).toBeGreaterThan(10);
  alive();
});

test("over an object's last message: functions read the API server, and a bridge repairs the message", async () => {
  const owner = await expectGoodService("covered");
  const note = await bridged.environment.client.get(Note, at("good-covered"));
  const covered = [
    objectSubject("default", {
      group: Note.group,
      kind: "Note",
      namespace: "default",
      owner: owner.metadata.uid,
      name: "good-covered",
    }),
    objectSubject("default", {
      group: Shelf.group,
      kind: "Shelf",
      namespace: "default",
      owner: "",
      name: "good-covered",
    }),
  ];
  for (const subject of covered) await bridged.bus.js.publish(subject, "garbage");
  const another = await bridged.create("another", { ownerReferences: [controllerReference(owner)] });
  await expectServed("good-covered", [note, another]);
  // The next start also removes garbage at addresses of objects that never existed.
  await bridge.stop();
  await bridge.start();
  const damaged = async (): Promise<number> => {
    const store = objectStore(bridged.bus, "default");
    const entries = await Promise.all([Note, Shelf].map((kind) => store.entries<KubeObject>(kind)));
    return entries.flat().filter(({ unreadable }) => unreadable).length;
  };
  // A subject that cannot be an object's has nothing to repair.
  await expect.poll(damaged, polling).toBe(0);
  for (const kind of [Note, Shelf]) await bridged.untilAgreed(kind);
  expect(bridge.logged("found a message that no bridge wrote, listing to correct it").length).toBeGreaterThan(
    0,
  );
  await bridge.stop();
  await bridge.start();
  await expectGoodService("set-right");
  alive();
});

test("as a ticket it becomes a dead letter, or is dropped if it names no object, and is not redelivered", async () => {
  const { bus } = bridged;
  const bad = [
    "work.shelves.default.x",
    "work.shelves.default.a.b.c",
    "work.shelves.default.=zz.a",
    "work.shelves.default.default.=FF",
  ];
  const names = Array.from({ length: 10 }, (_, at) => `ticket-${at}`);
  for (const subject of bad) await litter(subject);
  for (const name of names) await litter(work.ticket(scope, at(name)));
  await untilAnswered(workStream("shelves"), consumers.worker(scope));
  expect((await bus.jsm.streams.info(workStream("shelves"))).state.messages).toBe(0);
  await expect.poll(() => logged("not a ticket, dropped"), polling).toBe(bad.length);
  const letters = await deadLetters(bus, scope).list();
  expect(letters.map(({ key, letter }) => [key.name, letter.reason]).sort()).toEqual(
    names.map((name) => [name, "MalformedRequest"]).sort(),
  );
  await expectGoodService("tickets");
  alive();
});

test("as a mark or timer, pending or due, it does not block the object's next reconcile", async () => {
  const { bus } = bridged;
  const owner = await expectGoodService("marked");
  const key = at("good-marked");
  const name = { object: "uid", replica: "r", version: "1" };
  await litter(work.mark(scope, key, name));
  await litter(work.timer(scope, key));
  for (const subject of [work.markDue(scope, key, name), work.timerDue(scope, key)]) await litter(subject);
  for (const rest of ["x", "a.b.c.d.e", "=zz.a", "default.=FF"]) {
    await litter(`marks.due.shelves.default.${rest}`);
    await litter(`timers.due.shelves.default.${rest}`);
  }
  await untilAnswered(timersStream("shelves"), consumers.relay(scope));
  const note = await bridged.create("after-marks", { ownerReferences: [controllerReference(owner)] });
  const first = await bridged.environment.client.get(Note, at("good-marked"));
  await expectServed("good-marked", [first, note]);
  await expect
    .poll(async () => {
      const { state } = await bus.jsm.streams.info(timersStream("shelves"), {
        subjects_filter: work.marksOf(scope, key),
      });
      return Object.keys(state.subjects ?? {});
    }, polling)
    .toEqual([]);
  const queue = ticketQueue(bus, scope, { replica: "test" });
  expect(await timers(bus, queue, () => undefined).get(key)).toBeUndefined();
  await expect.poll(() => logged("failed to relay a due message"), polling).toBeGreaterThan(5);
  alive();
});

test("as a dead letter or crash record it hides no other, and quarantines no object", async () => {
  const { bus } = bridged;
  const letters = deadLetters(bus, scope);
  await letters.put(at("real"), {
    reason: "Real",
    message: "",
    attempts: 1,
    cause: { type: "replay" },
    replica: "r",
    time: new Date().toISOString(),
  });
  await litter(work.deadLetter(scope, at("unreadable")));
  await litter("deadletters.shelves.default.=zz.x");
  await litter("deadletters.shelves.default.x");
  const listed = await letters.list();
  const reasonOf = (name: string) => listed.find(({ key }) => key.name === name)?.letter.reason;
  expect([reasonOf("real"), reasonOf("unreadable")]).toEqual(["Real", "Unreadable"]);
  expect((await letters.get(at("unreadable")))?.message).toMatch(/expected a dead letter/);
  const queue = ticketQueue(bus, scope, { replica: "test" });
  await letters.replay(queue, at("unreadable"));
  expect(await letters.get(at("unreadable"))).toBeUndefined();
  await bus.js.publish(work.crashes(scope, at("counted")), "many");
  const starts = openCrashRecords(bus, scope);
  expect((await starts.add(at("counted"))).before.all).toBe(0);
  expect((await starts.add(at("counted"))).before.all).toBe(1);
});

test("in the bridge's bucket: it lists, takes the lease that is not renewed, and reports its status", async () => {
  await bridge.kill();
  for (const kind of [Note, Shelf]) {
    await bridged.kv.put(positionKey("default", kind), pick(["{", "null", "[1]", '"x"']));
    await bridged.kv.put(leaseKey("default", kind), "\u0000%zz");
    expect((await kindStatuses(bridged.bus, [shelves], "default")).map(({ kind }) => kind)).toHaveLength(2);
  }
  await bridge.start();
  for (const kind of [Note, Shelf])
    await bridged.position(kind, ({ holder, state }) => holder === "bridge" && state === "watching");
  await bridged.kv.put(`${positionKey("default", Note)}.=zz`, "{}");
  await bridged.kv.put(positionKey("default", Note, "n"), "{");
  await kindStatuses(bridged.bus, [shelves], "default");
  await expectGoodService("bucket");
});

test("as an announcement of writes it does not break the connection", async () => {
  const { nc } = bridged.bus;
  for (const body of [
    ...bodies,
    '{"wrote":5}',
    '{"wrote":[null]}',
    '{"wrote":[[1,2,3,"x"]]}',
    '{"retract":{}}',
  ])
    nc.publish(`echoes.shelves.${token("default")}`, body);
  await nc.flush();
  await expectGoodService("echoes");
  expect(worker.log.all.filter((line) => line.includes("connection to the bus lost"))).toEqual([]);
  alive();
});

test("headers that break a client library or look like server messages stop no consumer", async () => {
  const { natsUrl } = bridged.environment.platform;
  const objects = { group: Note.group, namespace: "default", owner: "nobody" };
  const broken = [
    "NATS/1.0\r\nbad key: x\r\n\r\n",
    "NATS/1.0 409 Consumer Deleted\r\n\r\n",
    "NATS/1.0 100\r\n\r\n",
    "NATS/1.0\r\nce-id\r\n\r\n",
  ];
  for (const [index, head] of broken.entries()) {
    const name = `headers-${index}`;
    await publishRaw(natsUrl, objectSubject("default", { ...objects, kind: "Note", name }), head, "");
    await publishRaw(natsUrl, work.ticket(scope, at(name)), head, "");
    await publishRaw(natsUrl, work.timerDue(scope, at(name)), head, "");
  }
  await untilAnswered(streams.objects, consumers.router(subscriptionOf(shelves, scope.cluster)));
  await untilAnswered(workStream("shelves"), consumers.worker(scope));
  await untilAnswered(timersStream("shelves"), consumers.relay(scope));
  await expectGoodService("headers");
  // A starting bridge reads all of it.
  await bridge.stop();
  await bridge.start();
  await expectGoodService("behind-headers");
  alive();
});
