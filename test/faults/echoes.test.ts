/** Events of a function's own writes that arrive before the announcement of the write. Most requests name objects that do not exist. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import type { ObjectVersion } from "../../bus/kube/object.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { type TicketQueue, ticketQueue } from "../../bus/queue/queue.ts";
import { newRequest, parseRequest, type Request } from "../../bus/queue/request.ts";
import { consumers, echoSubject, keyText, type ObjectKey, work, workStream } from "../../bus/subjects.ts";
import { openEchoes } from "../../bus/worker/echoes.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import { type Replica, startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { metricSum } from "../harness/metrics.ts";

const path = fileURLToPath(new URL("../fixtures/functions/probe.ts", import.meta.url));
const scope = { fn: "probe", cluster: "default" };
const polling = { timeout: 60_000, interval: 20 };
let environment: TestEnvironment;
let bus: Bus;
/** The connection of a simulated second replica. */
let replica: Bus;
let queue: TicketQueue;
let worker: Replica;
let bridge: Replica;

beforeAll(async () => {
  environment = await startTestEnvironment({ crds: [crdOf(Probe)] });
  bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  replica = await connectBus({ url: environment.platform.natsUrlFor(scope.fn), name: "replica" });
  // Marks must not become due during the test.
  queue = ticketQueue(bus, scope, { replica: "test", markMillis: 600_000 });
  bridge = await environment.bridge("bridge", { args: [path] });
  worker = await environment.worker("worker", [path]);
  await untilListening();
});
afterAll(async () => {
  await bus?.nc.close();
  await replica?.nc.close();
  await environment?.stop();
});

const at = (name: string): ObjectKey => ({ namespace: "default", name });
const written = "20";

/** The request that the router makes for the event of an object's version. */
function changeOf(key: ObjectKey, resourceVersion: string): Request {
  const { group, kind } = Probe;
  const cause = { type: "object", group, kind, ...key, uid: `uid-of-${key.name}`, resourceVersion } as const;
  return { ...newRequest(cause), routed: true };
}

const wroteOf = (key: ObjectKey, { uid, resourceVersion }: ObjectVersion, millis = 60_000) => ({
  ...{ key: keyText(key), group: Probe.group, kind: Probe.kind, ...key },
  ...{ uid, resourceVersion, millis },
});

/** The second replica, which owns the key for a minute, announces that it has written the object. */
async function announce(key: ObjectKey, ownedMillis = 60_000): Promise<void> {
  const wrote = [wroteOf(key, { uid: `uid-of-${key.name}`, resourceVersion: written }, ownedMillis)];
  replica.nc.publish(echoSubject(scope), JSON.stringify({ wrote }));
  await replica.nc.flush();
}

const ticketOf = (key: ObjectKey) =>
  bus.jsm.streams.getMessage(workStream(scope.fn), { last_by_subj: work.ticket(scope, key) });
const untilGivenBack = (key: ObjectKey) => vi.waitUntil(async () => (await ticketOf(key)) === null, polling);

/** Until the worker has served a request, its subscription may not have reached the bus. */
async function untilListening(): Promise<void> {
  await queue.request(at("anything"), newRequest({ type: "replay" }));
  await untilGivenBack(at("anything"));
}

/** Reconciles that the worker started, and events that it ignored as echoes. */
async function done(): Promise<{ readonly begun: number; readonly woken: number }> {
  return {
    begun: await metricSum([worker], /^workqueue_queue_duration_seconds_count/),
    woken: await metricSum([worker], /^denrei_own_events_total/),
  };
}

/** A worker paused for longer than this many seconds discards earlier announcements and does not ignore tickets as echoes. */
const longPause = 0.5;

/**
 * Counts the worker's reconciles and ignored events during a measurement in which it was not paused. Each measurement has its
 * own key, which is passed to `prepare`.
 */
async function didUnpaused(
  name: string,
  look: (key: ObjectKey) => Promise<void>,
  prepare?: (key: ObjectKey) => Promise<void>,
): ReturnType<typeof done> {
  for (let looks = 1; ; looks++) {
    const key = at(`${name}-${looks}`);
    await prepare?.(key);
    const before = await done();
    await look(key);
    // The longest pause since the metrics were last read.
    const pause = await metricSum([worker], /^nodejs_eventloop_lag_max_seconds/);
    const { begun, woken } = await done();
    if (pause < longPause) return { begun: begun - before.begun, woken: woken - before.woken };
  }
}

test.each(["19", written])(
  "an event at version %s, routed before the announcement of version 20, starts no reconcile",
  async (version) => {
    const did = await didUnpaused(`overtaking-${version}`, async (key) => {
      await announce(key);
      await queue.request(key, changeOf(key, version));
      await untilGivenBack(key);
    });
    expect(did).toEqual({ begun: 0, woken: 1 });
  },
);

test.each<[string, (request: Request) => Request]>([
  [
    "a later version",
    ({ cause, ...rest }) => ({ ...rest, cause: { ...cause, resourceVersion: "21" } as never }),
  ],
  [
    "a correction of the announced version",
    ({ cause, ...rest }) => ({ ...rest, cause: { ...cause, correction: true } as never }),
  ],
  ["a retry", ({ routed: _, ...rest }) => rest],
  ["another cause in the same ticket", (request) => ({ ...request, also: [{ type: "replay" }] })],
])("%s is reconciled nevertheless", async (name, alter) => {
  const key = at(name.replaceAll(" ", "-"));
  const before = await done();
  await announce(key);
  await queue.request(key, alter(changeOf(key, written)));
  await untilGivenBack(key);
  expect(await done()).toEqual({ begun: before.begun + 1, woken: before.woken });
});

test("a write announced as not yet seen is reconciled", async () => {
  const key = at("news");
  const before = await done();
  await announce(key, 0);
  await queue.request(key, changeOf(key, written));
  await untilGivenBack(key);
  expect(await done()).toEqual({ begun: before.begun + 1, woken: before.woken });
});

test("a request left as a mark during a ticket that was an echo is reconciled", async () => {
  const did = await didUnpaused(
    "beside",
    async (key) => {
      await announce(key);
      await queue.request(key, changeOf(key, written));
      // The mark is deleted once it has become a ticket.
      await expect.poll(() => queue.marks(key), polling).toEqual([]);
      await untilGivenBack(key);
    },
    async (key) => {
      await worker.kill();
      await queue.request(key, changeOf(key, written));
      expect(await queue.request(key, changeOf(key, "21"))).toBe("owned");
      await bus.jsm.streams.purge(workStream(scope.fn), { filter: work.ticket(scope, key) });
      await worker.start();
      await untilListening();
    },
  );
  expect(did).toEqual({ begun: 1, woken: 1 });
});

test("a redelivered ticket is reconciled, because its first delivery may have started", async () => {
  const key = at("begun");
  await worker.kill();
  await queue.request(key, changeOf(key, written));
  const workers = await bus.js.consumers.get(workStream(scope.fn), consumers.worker(scope));
  const held = await workers.next({ expires: 60_000 });
  expect(held, "the ticket").not.toBeNull();
  // The bus must not deliver it to another worker before this one is ready.
  const keeping = setInterval(() => held?.working(), 1000);
  onTestFinished(() => clearInterval(keeping));
  await worker.start();
  await untilListening();
  const before = await done();
  await announce(key);
  clearInterval(keeping);
  held?.nak();
  await untilGivenBack(key);
  expect(await done()).toEqual({ begun: before.begun + 1, woken: before.woken });
});

const create = (key: ObjectKey, spec: Probe["spec"]) =>
  environment.client.create(
    Probe,
    { apiVersion: "test.denrei.dev/v1", kind: "Probe", metadata: key, spec },
    { fieldManager: "test" },
  );

test("a write announced before a worker listened is news to the others once that worker reconciles the key", async () => {
  const key = at("unheard");
  const others = openEchoes(replica.nc, scope);
  await replica.nc.flush();
  const isEcho = () => others.has(key, `uid-of-${key.name}`, written);
  await worker.kill();
  // An announcement expires after 10 s, and a busy machine needs longer to start a worker.
  const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
  onTestFinished(() => clock.mockRestore());
  await announce(key);
  await expect.poll(isEcho, polling).toBe(true);
  await worker.start();
  await untilListening();
  expect(isEcho()).toBe(true);
  await queue.request(key, newRequest({ type: "timer" }));
  await untilGivenBack(key);
  // The answer comes after all earlier messages.
  await replica.nc.flush();
  expect(isEcho()).toBe(false);
  others.stop();
});

test("announces a write before acknowledging its ticket", async () => {
  const announced: string[] = [];
  replica.nc.subscribe(echoSubject(scope), {
    callback(_, message) {
      const { wrote = [] } = message.json<{ wrote?: unknown[] }>();
      if (wrote.length > 0) announced.push("announced");
    },
  });
  bus.nc.subscribe(`$JS.ACK.${workStream(scope.fn)}.>`, {
    callback(_, message) {
      // Ignores requests for more time.
      if (message.string() === "+ACK") announced.push("given back");
    },
  });
  await bus.nc.flush();
  await create(at("told"), { mode: "ok" });
  await expect.poll(() => announced, polling).toContain("given back");
  expect(announced).toEqual(["announced", "given back"]);
});

test("recognizes the request of an event, but not that of its retry", async () => {
  const key = at("retried");
  const requests: Request[] = [];
  bus.nc.subscribe(work.ticket(scope, key), {
    callback: (_, message) => void requests.push(parseRequest(message.string())),
  });
  await bus.nc.flush();
  await create(key, { mode: "throw" });
  await expect.poll(() => requests.length, polling).toBeGreaterThan(1);
  expect(requests.slice(0, 2)).toMatchObject([
    { attempt: 0, routed: true, cause: { type: "object" } },
    { attempt: 1, cause: { type: "object" } },
  ]);
  expect(requests[1]).not.toHaveProperty("routed");
});

test("a condition written over an unseen change is not an echo and is reread", async () => {
  const key = at("overtaken");
  const announced = new Map<string, number>();
  replica.nc.subscribe(echoSubject(scope), {
    callback(_, message) {
      const { wrote = [] } = message.json<{ wrote?: ReturnType<typeof wroteOf>[] }>();
      for (const { uid, resourceVersion, millis } of wrote)
        announced.set(`${uid} ${resourceVersion}`, millis);
    },
  });
  const requests: Request[] = [];
  for (const subject of [work.ticket(scope, key), work.marksOf(scope, key)])
    bus.nc.subscribe(subject, {
      callback: (_, message) => void requests.push(parseRequest(message.string())),
    });
  await bus.nc.flush();
  await create(key, { mode: "ok" });
  const conditions: string[] = [];
  let isWatched = false;
  const recovered = environment.until(Probe, key, ({ status, metadata: { uid, resourceVersion } }) => {
    isWatched = true;
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    if (ready?.reason === "TerminalRequested") conditions.push(`${uid} ${resourceVersion}`);
    return conditions.length > 0 && ready?.status === "True";
  });
  await vi.waitUntil(() => isWatched, polling);
  await environment.client.mergePatch(Probe, key, { spec: { mode: "overtaken" } }, { fieldManager: "test" });
  const { metadata } = await recovered;
  await vi.waitUntil(() => announced.has(`${metadata.uid} ${metadata.resourceVersion}`), polling);
  // Later versions with this condition are those of the function's own status.
  expect(announced.get(conditions[0] ?? "")).toBe(0);
  // If the change was reconciled before its request arrives, it is the echo of that reconcile's writer.
  expect(requests.map(({ routed }) => routed)).toEqual(requests.map(() => true));
});

/** The generations of the object that the worker has reconciled, oldest first. */
const generationsOf = (key: ObjectKey) =>
  worker.log
    .records()
    .filter((record) => record.msg === "probing" && record.key === keyText(key))
    .map(({ generation }) => generation);

test.each([
  ["goes on", () => undefined],
  [
    "fails afterwards",
    (key: ObjectKey) => replica.nc.publish(echoSubject(scope), JSON.stringify({ retract: keyText(key) })),
  ],
])("another replica's write is read before the bus has it, even when that replica %s", async (name, end) => {
  const key = at(`written-elsewhere-${name.replaceAll(" ", "-")}`);
  await create(key, { mode: "later", millis: 3_600_000 });
  await expect.poll(() => generationsOf(key), polling).toEqual([1]);
  await untilGivenBack(key);
  await bridge.stop();
  try {
    const { metadata } = await environment.client.mergePatch(
      Probe,
      key,
      { spec: { value: 1 } },
      { fieldManager: "test" },
    );
    await queue.request(key, newRequest({ type: "timer" }));
    await expect.poll(() => generationsOf(key), polling).toEqual([1, 1]);
    await untilGivenBack(key);
    replica.nc.publish(echoSubject(scope), JSON.stringify({ wrote: [wroteOf(key, metadata)] }));
    end(key);
    await replica.nc.flush();
    await queue.request(key, newRequest({ type: "timer" }));
    await expect.poll(() => generationsOf(key), polling).toEqual([1, 1, 2]);
  } finally {
    await bridge.start();
  }
});
