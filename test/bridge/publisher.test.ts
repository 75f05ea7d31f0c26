import { errors } from "@nats-io/transport-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPublisher, type Publisher, type PublisherOptions } from "../../bus/bridge/publisher.ts";
import type { Change } from "../../bus/events/kubernetes.ts";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import type { Bus } from "../../bus/nats/connect.ts";
import { living, objectStore } from "../../bus/objects/store.ts";
import { keyText, objectByName, streams } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { openHistory } from "../harness/history.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";
import { random } from "../harness/random.ts";

const Thing = externalKind<KubeObject<{ text: string }>>({
  group: "test.denrei.dev",
  version: "v1",
  kind: "Thing",
  plural: "things",
});

let local: LocalBus;
let bus: Bus;
let clusters = 0;
const newCluster = () => `cluster-${++clusters}`;

beforeAll(async () => {
  local = await startLocalBus();
  bus = local.bus;
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 10_000 });
});
afterAll(() => local?.stop());

/** A publisher as after its first list. */
async function open(cluster: string, options: Partial<PublisherOptions> = {}): Promise<Publisher> {
  const publisher = await openPublisher({
    ...{ bus, cluster, kind: Thing, onPublished: () => undefined },
    signal: new AbortController().signal,
    ...options,
  });
  publisher.trust();
  return publisher;
}

const thing = (name: string, version: number, owner?: string, text = `text ${version}`): Stored =>
  ({
    apiVersion: "test.denrei.dev/v1",
    kind: "Thing",
    metadata: {
      name,
      namespace: "default",
      uid: `uid-of-${name}`,
      resourceVersion: String(version),
      ...(owner && {
        ownerReferences: [{ apiVersion: "v1", kind: "Owner", name: owner, uid: owner, controller: true }],
      }),
    },
    spec: { text },
  }) as Stored;

const at = (name: string) => ({ namespace: "default", name });

/** Runs while the bus does not answer. */
async function whilePaused(run: () => Promise<void>): Promise<void> {
  const pid = local.nats.pid ?? 0;
  process.kill(pid, "SIGSTOP");
  try {
    await run();
  } finally {
    process.kill(pid, "SIGCONT");
  }
}

test("publisher - the position does not pass unpublished objects, not even with a bookmark", async () => {
  const publisher = await open(newCluster(), { position: "5" });
  await whilePaused(async () => {
    await publisher.publish("added", thing("a", 10), "watch");
    await publisher.publish("added", thing("b", 11), "watch");
    publisher.advance("20");
    expect(publisher.position).toBe("5");
  });
  await publisher.settled();
  expect(publisher.position).toBe("20");
  publisher.advance("7");
  expect(publisher.position).toBe("20");
});

test("publisher - applies backpressure while the bus does not answer, even for changes of one object", async () => {
  const cluster = newCluster();
  const publisher = await open(cluster);
  let accepted = 0;
  let publishing: Promise<void> | undefined;
  await whilePaused(async () => {
    publishing = (async () => {
      for (let version = 1; version <= 1000; version++) {
        await publisher.publish("modified", thing("hot", version), "watch");
        accepted++;
      }
    })();
    // Long enough for all of them without backpressure.
    for (let turn = 0; turn < 5000; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(accepted).toBeGreaterThan(10);
    expect(accepted).toBeLessThan(200);
  });
  await publishing;
  await publisher.settled();
  expect(await objectStore(bus, cluster).entry(Thing, at("hot"))).toMatchObject({ resourceVersion: "1000" });
});

test("publisher - reports a permanent refusal at once; the next publisher starts before it", async () => {
  const cluster = newCluster();
  const failures: unknown[] = [];
  const publisher = await open(cluster, { onFailed: (error) => failures.push(error) });
  await publisher.publish("added", thing("before", 1), "watch");
  await publisher.settled();
  const { config } = await bus.jsm.streams.info(streams.objects);
  await bus.jsm.streams.update(streams.objects, { max_msg_size: 5000 });
  try {
    await publisher.publish("added", thing("refused", 2, undefined, "x".repeat(10_000)), "watch");
    await expect.poll(() => failures.length).toBe(1);
    await expect(publisher.settled()).rejects.toThrow("message size exceeds");
    await expect(publisher.publish("added", thing("after", 3), "watch")).rejects.toThrow(
      "message size exceeds",
    );
    expect(publisher.position).toBe("1");
  } finally {
    await bus.jsm.streams.update(streams.objects, { max_msg_size: config.max_msg_size });
  }
  const next = await open(cluster);
  await next.publish("added", thing("refused", 2), "watch");
  await next.settled();
  expect(next.names().sort()).toEqual(["default/before", "default/refused"]);
});

test("publisher - drops its position if the bus has lost objects since it was saved", async () => {
  const cluster = newCluster();
  const publisher = await open(cluster);
  const publish = async (change: Change, name: string, version: number) => {
    await publisher.publish(change, thing(name, version), "watch");
    await publisher.settled();
  };
  for (const [at, name] of ["a", "b", "c", "d"].entries()) await publish("added", name, at + 1);
  const extent = { sequence: publisher.sequence, objects: publisher.count };
  const resumed = async () => (await open(cluster, { position: "4", extent })).position;
  await publish("deleted", "a", 5);
  await publish("modified", "b", 6);
  expect(await resumed()).toBe("4");

  const filter = objectByName(cluster, Thing, at("c"));
  expect(await bus.jsm.streams.purge(streams.objects, { filter })).toMatchObject({ purged: 1 });
  expect(await resumed()).toBeUndefined();
  // Only this object was missing, and its next change restores it.
  await publish("modified", "c", 7);
  expect(await resumed()).toBe("4");
});

test("publisher - retries when the bus fails during the lookup of a version", async () => {
  const cluster = newCluster();
  const asked: string[] = [];
  const streamsApi: typeof bus.jsm.streams = Object.assign(Object.create(bus.jsm.streams), {
    getMessage(...args: Parameters<typeof bus.jsm.streams.getMessage>) {
      asked.push(args[0]);
      return asked.length <= 2
        ? Promise.reject(
            asked.length === 1 ? new errors.TimeoutError() : new errors.NoRespondersError("gone"),
          )
        : bus.jsm.streams.getMessage(...args);
    },
  });
  const jsm = Object.assign(Object.create(bus.jsm), { streams: streamsApi });
  const publisher = await open(cluster, { bus: { ...bus, jsm } });
  const other = await open(cluster);
  await other.publish("added", thing("a", 1), "watch");
  await other.settled();
  await publisher.publish("modified", thing("a", 2), "watch");
  await publisher.settled();
  expect(asked).toHaveLength(3);
  expect(publisher.position).toBe("2");
});

test("publisher - publishes the deletion of an oversized object with its metadata", async () => {
  const cluster = newCluster();
  const oversized: object[] = [];
  const publisher = await open(cluster, { onOversized: (object) => oversized.push(object) });
  const text = "x".repeat(1_100_000);
  await publisher.publish("added", thing("giant", 1), "watch");
  await publisher.publish("modified", thing("giant", 2, undefined, text), "watch");
  await publisher.publish("deleted", thing("giant", 3, undefined, text), "watch");
  await publisher.settled();
  expect(oversized).toMatchObject([{ bytes: expect.any(Number), limit: 1_048_576 }]);
  const entry = await objectStore(bus, cluster).entry(Thing, at("giant"));
  expect(entry).toMatchObject({ deleted: true, resourceVersion: "3" });
  expect(Object.keys(entry?.object ?? {}).sort()).toEqual(["apiVersion", "kind", "metadata"]);
});

test("publisher - publishes nothing after its lease is lost, and the next one completes its move", async () => {
  const cluster = newCluster();
  const store = objectStore(bus, cluster);
  let held = true;
  let published = 0;
  const publisher = await open(cluster, {
    assertHeld() {
      if (!held) throw new Error("the lease is lost");
    },
    // Lost between the two publishes of a move: both the new and the old address have the object.
    onPublished: () => {
      held = ++published < 2;
    },
  });
  await publisher.publish("added", thing("moved", 1, "owner-1"), "watch");
  await publisher.publish("modified", thing("moved", 2, "owner-2"), "watch");
  await expect(publisher.settled()).rejects.toThrow("the lease is lost");
  await expect(publisher.publish("added", thing("late", 3), "watch")).rejects.toThrow("the lease is lost");
  expect(published).toBe(2);
  expect(living(await store.entries(Thing))).toHaveLength(2);

  await (await open(cluster)).settled();
  expect(living(await store.entries(Thing))).toEqual([thing("moved", 2, "owner-2")]);
});

interface Step {
  readonly change: Change;
  readonly object: Stored;
}

/** A random history of an API server: objects are created, changed, moved between controllers, deleted, and recreated. */
function history(next: () => number, length: number): Step[] {
  const living = new Map<string, Stored>();
  const pick = (values: readonly (string | undefined)[]) => values[Math.floor(next() * values.length)];
  return Array.from({ length }, (_, i) => {
    const version = i + 1;
    const name = pick(["a", "b", "c"]) ?? "";
    const before = living.get(name);
    if (before && next() < 0.3) {
      living.delete(name);
      const metadata = { ...before.metadata, resourceVersion: String(version) };
      return { change: "deleted", object: { ...before, metadata } };
    }
    const object = thing(name, version, pick([undefined, "owner-1", "owner-2"]));
    object.metadata.uid = before?.metadata.uid ?? `uid-${version}`;
    living.set(name, object);
    return { change: before ? "modified" : "added", object };
  });
}

/** The objects after the first steps. */
function after(steps: readonly Step[]): Map<string, Stored> {
  const objects = new Map<string, Stored>();
  for (const { change, object } of steps) {
    if (change === "deleted") objects.delete(keyText(at(object.metadata.name)));
    else objects.set(keyText(at(object.metadata.name)), object);
  }
  return objects;
}

test("publisher - after one saw the whole history, others that replay an older part of it change nothing", async () => {
  const next = random(Number(process.env.DENREI_SEED ?? 1));
  const published = await openHistory(bus);
  for (let round = 0; round < 25; round++) {
    const cluster = newCluster();
    const steps = history(next, 40);
    const publishers = await Promise.all(
      // The first one sees everything; the others start and end anywhere.
      [0, next() * 20, next() * 40].map(async (from, i) => ({
        publisher: await open(cluster),
        // A list omits former addresses of an object, which a late publisher could use. In production the lease prevents that.
        lists: i > 0,
        at: Math.floor(from),
        end: i === 0 ? steps.length : Math.floor(from + next() * (steps.length - from)),
      })),
    );
    for (let going = publishers; going.length > 0; going = going.filter((one) => one.at < one.end)) {
      // One after the other, as under a lease; a late publisher replays an older part.
      const one = going[0];
      if (one === undefined || one.at >= one.end) continue;
      const { publisher } = one;
      if (one.lists && next() < 0.1) {
        one.at = Math.min(one.end, one.at + Math.floor(next() * 5));
        await list(publisher, steps.slice(0, one.at));
      } else {
        const { change, object } = steps[one.at++] as Step;
        await publisher.publish(change, object, "watch");
      }
      // Otherwise two publishers would write at the same time.
      if (one.at >= one.end) await publisher.settled();
    }
    const expected = after(steps);
    const found = living(await objectStore(bus, cluster).entries(Thing));
    const print = (objects: Iterable<Stored>) => [...objects].map((object) => JSON.stringify(object)).sort();
    expect(print(found), `round ${round}`).toEqual(print(expected.values()));
    // A new publisher finds the same objects.
    expect((await open(cluster)).names().sort()).toEqual([...expected.keys()].sort());
  }
  expect(published.disorder()).toEqual([]);
});

async function list(publisher: Publisher, steps: readonly Step[]): Promise<void> {
  const before = new Set(publisher.names());
  const objects = after(steps);
  const version = String(steps.length);
  for (const [name, object] of objects)
    await publisher.publish(before.has(name) ? "modified" : "added", object, "list");
  for (const name of publisher.names().filter((name) => before.has(name) && !objects.has(name)))
    await publisher.vanished(name, version);
  await publisher.settled();
  publisher.advance(version);
}

test("publisher - all waiting callers continue when there is room again", async () => {
  const publisher = await open(newCluster());
  const publishMany = async (prefix: string) => {
    for (let at = 0; at < 500; at++)
      await publisher.publish("added", thing(`${prefix}-${at}`, at + 1), "watch");
  };
  await Promise.all(["one", "two", "three"].map(publishMany));
  await publisher.settled();
  expect(publisher.count).toBe(1500);
});

test("publisher - accepts older versions after the API server was restored, even of objects deleted long ago", async () => {
  const cluster = newCluster();
  const store = objectStore(bus, cluster);
  const publisher = await open(cluster);
  // More than the publisher remembers, so that only the bus knows the first ones.
  const many = 10_100;
  const remove = async (prefix: string, from: number) => {
    for (let n = 1; n <= many; n++)
      await publisher.publish("deleted", thing(`${prefix}-${n}`, from + n), "watch");
  };
  await remove("gone", 100_000);
  // Without a restore, the state on the bus wins.
  await publisher.publish("modified", thing("gone-1", 500), "watch");
  await publisher.settled();
  expect(await store.entry(Thing, at("gone-1"))).toMatchObject({ deleted: true, resourceVersion: "100001" });
  expect(publisher.count).toBe(0);

  publisher.forgetVersions();
  const early = ["gone-2", "gone-3"].map((name) => thing(name, 600));
  for (const object of early) await publisher.publish("added", object, "list");
  // By now the publisher has dropped the versions that it remembered.
  await remove("later", 1000);
  const late = thing(`gone-${many}`, 20_000);
  await publisher.publish("added", late, "watch");
  await publisher.settled();
  const inOrder = (objects: readonly Stored[]) => objects.map((object) => JSON.stringify(object)).sort();
  expect(inOrder(living(await store.entries(Thing)))).toEqual(inOrder([...early, late]));
  expect(publisher.names().sort()).toEqual(
    [...early, late].map(({ metadata }) => keyText(at(metadata.name))).sort(),
  );
});
