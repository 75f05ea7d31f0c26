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

const open = (cluster: string, options: Partial<PublisherOptions> = {}): Promise<Publisher> =>
  openPublisher({
    bus,
    cluster,
    kind: Thing,
    signal: new AbortController().signal,
    onPublished: () => undefined,
    ...options,
  });

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

/** Runs while the bus answers nothing. */
async function whilePaused(run: () => Promise<void>): Promise<void> {
  const pid = local.nats.pid ?? 0;
  process.kill(pid, "SIGSTOP");
  try {
    await run();
  } finally {
    process.kill(pid, "SIGCONT");
  }
}

test("publisher - the position stays behind what is not on the bus yet, bookmarks included", async () => {
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

test("publisher - a bus that does not answer is felt, even when all changes are of one object", async () => {
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
    // Long enough for all of them, if nothing held them back.
    for (let turn = 0; turn < 5000; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(accepted).toBeGreaterThan(10);
    expect(accepted).toBeLessThan(200);
  });
  await publishing;
  await publisher.settled();
  expect(await objectStore(bus, cluster).entry(Thing, at("hot"))).toMatchObject({ resourceVersion: "1000" });
});

test("publisher - what is refused for good is told at once; the next publisher starts before it", async () => {
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

test("publisher - a bus that has less than at the saved position is listed, whatever came to it since", async () => {
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
  // Only this object was missing, and its next change brings it back.
  await publish("modified", "c", 7);
  expect(await resumed()).toBe("4");
});

test("publisher - a bus that goes away while it is asked what it has is asked again", async () => {
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

test("publisher - the deletion of an object that is too big needs only its metadata", async () => {
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

test("publisher - one that loses its lease publishes nothing more, and the next one finishes what it had begun", async () => {
  const cluster = newCluster();
  const store = objectStore(bus, cluster);
  let held = true;
  let published = 0;
  const publisher = await open(cluster, {
    assertHeld() {
      if (!held) throw new Error("the lease is lost");
    },
    // Lost between the two publishes of a move: the new address has the object, and so has the old one still.
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

/** What an API server would have told: objects that come, change, move between controllers, go and come back. */
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

test("publisher - after one that saw everything, others that are fed any older part of it change nothing", async () => {
  const next = random(Number(process.env.DENREI_SEED ?? 1));
  const told = await openHistory(bus);
  for (let round = 0; round < 25; round++) {
    const cluster = newCluster();
    const steps = history(next, 40);
    const publishers = await Promise.all(
      // The first one misses nothing; the others begin and end anywhere.
      [0, next() * 20, next() * 40].map(async (from, i) => ({
        publisher: await open(cluster),
        // A list does not tell the addresses that an object had in between; a late publisher could use one of them, so it takes the lease to keep it out.
        lists: i > 0,
        at: Math.floor(from),
        end: i === 0 ? steps.length : Math.floor(from + next() * (steps.length - from)),
      })),
    );
    for (let going = publishers; going.length > 0; going = going.filter((one) => one.at < one.end)) {
      // One after the other: the lease keeps two from writing at once, and what comes late is fed an older part.
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
      // What is still on its way when the next one begins would be two that write at once.
      if (one.at >= one.end) await publisher.settled();
    }
    const expected = after(steps);
    const found = living(await objectStore(bus, cluster).entries(Thing));
    const print = (objects: Iterable<Stored>) => [...objects].map((object) => JSON.stringify(object)).sort();
    expect(print(found), `round ${round}`).toEqual(print(expected.values()));
    // Who comes now learns the same.
    expect((await open(cluster)).names().sort()).toEqual([...expected.keys()].sort());
  }
  expect(told.disorder()).toEqual([]);
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

test("all who wait for room go on when there is some, and not only the one who came last", async () => {
  const publisher = await open(newCluster());
  const publishMany = async (prefix: string) => {
    for (let at = 0; at < 500; at++)
      await publisher.publish("added", thing(`${prefix}-${at}`, at + 1), "watch");
  };
  await Promise.all(["one", "two", "three"].map(publishMany));
  await publisher.settled();
  expect(publisher.count).toBe(1500);
});

test("publisher - an API server that has gone back in time is believed, also about a deletion of long ago", async () => {
  const cluster = newCluster();
  const store = objectStore(bus, cluster);
  const publisher = await open(cluster);
  // More than are remembered, so that the first ones are known to the bus alone.
  const many = 10_100;
  const remove = async (prefix: string, from: number) => {
    for (let n = 1; n <= many; n++)
      await publisher.publish("deleted", thing(`${prefix}-${n}`, from + n), "watch");
  };
  await remove("gone", 100_000);
  // While time goes forward, the bus is right.
  await publisher.publish("modified", thing("gone-1", 500), "watch");
  await publisher.settled();
  expect(await store.entry(Thing, at("gone-1"))).toMatchObject({ deleted: true, resourceVersion: "100001" });
  expect(publisher.count).toBe(0);

  publisher.forgetVersions();
  const early = ["gone-2", "gone-3"].map((name) => thing(name, 600));
  for (const object of early) await publisher.publish("added", object, "list");
  // Those that were remembered then are forgotten by now.
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
