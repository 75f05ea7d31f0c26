/** Sweeps on a real server: every object is requested again and again, once for all replicas, whatever becomes of the schedule. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Bus } from "../../bus/connect.ts";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import type { Delivery } from "../../bus/queue/delivery.ts";
import { publishUntilAnswered } from "../../bus/queue/publish.ts";
import { type TicketQueue, ticketQueue } from "../../bus/queue/queue.ts";
import { startRelay } from "../../bus/queue/relay.ts";
import { newRequest, type Request } from "../../bus/queue/request.ts";
import { type Sweep, startSweep } from "../../bus/queue/sweep.ts";
import {
  consumers,
  keyText,
  kindSubjects,
  type ObjectKey,
  type QueueScope,
  streams,
  sweeps,
  timersStream,
  work,
  workStream,
} from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";
import { publisherOf, stored } from "../harness/publish.ts";

const Thing = externalKind<KubeObject<object>>({
  group: "test.denrei.dev",
  version: "v1",
  kind: "Thing",
  plural: "things",
});
const Other = externalKind<KubeObject<object>>({ ...Thing, kind: "Other", plural: "others" });

const cluster = "test";
const patience = { timeout: 30_000, interval: 50 };
const names = Array.from({ length: 150 }, (_, at) => `thing-${at}`);
const keys = names.map((name) => `default/${name}`).sort();
let local: LocalBus;
let bus: Bus;
beforeAll(async () => {
  local = await startLocalBus();
  bus = local.bus;
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 3000 });
  const things = await publisherOf(bus, Thing);
  for (const [at, name] of names.entries())
    await things.publish("added", stored(Thing, name, at + 1, {}), "watch");
  await things.settled();
  const others = await publisherOf(bus, Other);
  await others.publish("added", stored(Other, "other", 1, {}), "watch");
  await others.settled();
});
afterAll(() => local?.stop());

/** What a test has started, the last first. */
const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  while (running.length > 0) await running.pop()?.();
});

/** A function's queue on streams of its own. */
async function scopeOf(fn: string): Promise<QueueScope> {
  const scope = { fn, cluster };
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 3000 }, [{ scope, kinds: [Thing] }]);
  // What is not handed back comes back to nobody within a test.
  await bus.jsm.consumers.update(timersStream(fn), consumers.relay(scope), { ack_wait: 600_000 * 1e6 });
  return scope;
}

interface Process {
  readonly sweep: Sweep;
  /** What its sweeps have requested, by key. */
  readonly requested: Map<string, number>;
  /** Positions of the messages that said that it is time. */
  readonly due: Set<number>;
  /** How its sweeps have ended. */
  readonly swept: string[];
  readonly errors: unknown[];
  /** As a worker does: first no more sweeps, and then no more messages. */
  stop(): Promise<void>;
}

/** One process of a function: its sweep and, if wanted, its relay. Nobody takes the tickets, unless `take` does. */
function start(
  scope: QueueScope,
  options: {
    everyMillis: number;
    relay?: boolean;
    request?: (
      key: ObjectKey,
      request: Request,
      signal: AbortSignal | undefined,
    ) => Promise<"accepted" | "owned">;
    bus?: Partial<Bus>;
  },
): Process {
  const real = ticketQueue(bus, scope, { replica: `replica-${running.length}` });
  const requested = new Map<string, number>();
  const due = new Set<number>();
  const swept: string[] = [];
  const errors: unknown[] = [];
  const queue: TicketQueue = {
    ...real,
    requestUnlessOwned(key, request, signal) {
      const text = keyText(key);
      requested.set(text, (requested.get(text) ?? 0) + 1);
      return (options.request ?? real.requestUnlessOwned)(key, request, signal);
    },
  };
  const [searching, stopping] = [new AbortController(), new AbortController()];
  const inner = startSweep({
    bus: { ...bus, ...options.bus },
    queue,
    kind: Thing,
    everyMillis: options.everyMillis,
    signal: searching.signal,
    onError: (error) => errors.push(error),
  });
  const sweep: Sweep = {
    ...inner,
    async due(delivery) {
      due.add((delivery as Delivery).sequence);
      const end = await inner.due(delivery);
      swept.push(end);
      return end;
    },
  };
  const relay = options.relay
    ? startRelay({
        bus,
        queue: real,
        sweep,
        slots: 4,
        signal: stopping.signal,
        onError: (error) => errors.push(error),
      })
    : undefined;
  let stopped: Promise<void> | undefined;
  const stop = () =>
    (stopped ??= (async () => {
      searching.abort();
      await Promise.all([relay?.stop(), sweep.ended]);
      stopping.abort();
    })());
  running.push(stop);
  return { sweep, requested, due, swept, errors, stop };
}

/** The function's schedule as the bus has it. */
const schedule = async ({ fn, ...scope }: QueueScope) =>
  (await bus.jsm.direct.getMessage(timersStream(fn), { last_by_subj: sweeps.at({ fn, ...scope }) })) ??
  undefined;
const dueAt = async (scope: QueueScope): Promise<number> =>
  Date.parse((await schedule(scope))?.header.get("Nats-Schedule").slice("@at ".length) ?? "");

/** What is in the function's stream, by subject. */
const inStream = async ({ fn }: QueueScope): Promise<Record<string, number>> =>
  (await bus.jsm.streams.info(timersStream(fn), { subjects_filter: ">" })).state.subjects ?? {};

/** Takes tickets as a worker does, until the test is over; what was taken is counted by key. */
function take(scope: QueueScope): Map<string, number> {
  const taken = new Map<string, number>();
  const stopping = new AbortController();
  const done = (async () => {
    const consumer = await bus.js.consumers.get(workStream(scope.fn), consumers.worker(scope));
    while (!stopping.signal.aborted) {
      for await (const ticket of await consumer.fetch({ max_messages: 500, expires: 1000 })) {
        const key = ticket.subject.split(".").at(-1) ?? "";
        taken.set(key, (taken.get(key) ?? 0) + 1);
        await ticket.ackAck();
      }
    }
  })();
  running.push(async () => {
    stopping.abort();
    await done;
  });
  return taken;
}

/** The bus, whose direct reads are those given. */
const withDirect = (direct: Partial<Bus["jsm"]["direct"]>): Partial<Bus> => ({
  jsm: Object.create(bus.jsm, { direct: { value: direct } }),
});

/** A sweep that is due now, as the bus would deliver it. */
const fire = (scope: QueueScope) => publishUntilAnswered(bus, sweeps.due(scope), "");
const unanswered: Pick<Delivery, "extend"> = { extend: async () => undefined };
const fewest = (counts: ReadonlyMap<string, number>): number =>
  counts.size < names.length ? 0 : Math.min(...counts.values());

test("every object of the kind is requested again and again, although nothing happens", async () => {
  const scope = await scopeOf("again");
  const { requested, errors } = start(scope, { everyMillis: 300, relay: true });
  const taken = take(scope);
  await expect.poll(() => fewest(taken), patience).toBeGreaterThanOrEqual(3);
  expect([...requested.keys()].sort()).toEqual(keys);
  expect([...taken.keys()].sort()).toEqual(names.toSorted());
  expect(errors).toEqual([]);
});

test("an object that somebody owns is left to its owner", async () => {
  const scope = await scopeOf("owned");
  const { swept } = start(scope, { everyMillis: 300, relay: true });
  // Nobody takes the tickets: after the first sweep all of them are there.
  await expect.poll(() => swept.length, patience).toBeGreaterThanOrEqual(3);
  const { state } = await bus.jsm.streams.info(workStream(scope.fn));
  expect([state.messages, state.last_seq]).toEqual([names.length, names.length]);
  expect(Object.keys(await inStream(scope)).filter((subject) => subject.startsWith("marks."))).toEqual([]);
});

test("replicas have one schedule together, and each sweep is one replica's", async () => {
  const scope = await scopeOf("together");
  const everyMillis = 400;
  const times = new Set<number>();
  const watching = bus.nc.subscribe(sweeps.at(scope), {
    callback: (_, message) => {
      times.add(Date.parse(message.headers?.get("Nats-Schedule").slice("@at ".length) ?? ""));
    },
  });
  const processes = [1, 2, 3].map(() => start(scope, { everyMillis, relay: true }));
  const swept = () => processes.flatMap((process) => process.swept);
  await expect.poll(() => swept().length, { ...patience, timeout: 60_000 }).toBeGreaterThanOrEqual(8);
  await Promise.all(processes.map((process) => process.stop()));
  watching.unsubscribe();
  const due = processes.flatMap((process) => [...process.due]);
  // The last one may have been handed back.
  const full = swept().filter((end) => end === "swept").length;
  for (const key of keys) {
    const requests = processes.reduce((sum, { requested }) => sum + (requested.get(key) ?? 0), 0);
    expect(requests).toBeGreaterThanOrEqual(full);
    expect(requests).toBeLessThanOrEqual(new Set(due).size);
  }
  expect(new Set(due).size).toBeGreaterThanOrEqual(full);
  // A schedule of each replica's own would fall due several times from one of them to the next.
  const [first, last] = [Math.min(...times), Math.max(...times)];
  expect(new Set(due).size).toBeLessThanOrEqual((last - first) / everyMillis + 1);
  expect(processes.flatMap(({ errors }) => errors)).toEqual([]);
});

test("replicas that start at once set one schedule", async () => {
  const scope = await scopeOf("at-once");
  const processes = Array.from({ length: 8 }, () => start(scope, { everyMillis: 600_000 }));
  await expect.poll(() => inStream(scope), patience).toEqual({ [sweeps.at(scope)]: 1 });
  await Promise.all(processes.map(({ stop }) => stop()));
  const { state } = await bus.jsm.streams.info(timersStream(scope.fn));
  expect([state.messages, state.last_seq]).toEqual([1, 1]);
  expect(processes.flatMap(({ errors }) => errors)).toEqual([]);
});

test("a replica that starts later leaves the schedule as it is", async () => {
  const scope = await scopeOf("later");
  const at = new Date(Date.now() + 5000);
  const set = await publishUntilAnswered(bus, sweeps.at(scope), "", {
    schedule: { at, target: sweeps.due(scope) },
  });
  let looks = 0;
  const getMessage = (...args: Parameters<typeof bus.jsm.direct.getMessage>) => {
    looks++;
    return bus.jsm.direct.getMessage(...args);
  };
  start(scope, { everyMillis: 3000, bus: withDirect({ getMessage }) });
  await expect.poll(() => looks, patience).toBe(2);
  expect((await schedule(scope))?.seq).toBe(set);
});

test("a schedule that is deleted is set again", async () => {
  const scope = await scopeOf("deleted");
  start(scope, { everyMillis: 1000 });
  await expect.poll(() => schedule(scope), patience).toBeDefined();
  const before = (await bus.jsm.streams.info(timersStream(scope.fn))).state.last_seq;
  await bus.jsm.streams.purge(timersStream(scope.fn), { filter: sweeps.at(scope) });
  await expect.poll(async () => (await schedule(scope))?.seq, patience).toBeGreaterThan(before);
});

test("what is no schedule, and so never falls due, makes way for one", async () => {
  const scope = await scopeOf("garbage");
  const garbage = await publishUntilAnswered(bus, sweeps.at(scope), "garbage");
  const { swept } = start(scope, { everyMillis: 300, relay: true });
  await expect.poll(() => swept.length, patience).toBeGreaterThanOrEqual(2);
  await expect.poll(async () => (await schedule(scope))?.seq, patience).toBeGreaterThan(garbage);
});

test("a schedule of a version that has swept more rarely makes way for one", async () => {
  const scope = await scopeOf("rarely");
  const at = new Date(Date.now() + 3_600_000);
  await publishUntilAnswered(bus, sweeps.at(scope), "", { schedule: { at, target: sweeps.due(scope) } });
  const { swept } = start(scope, { everyMillis: 300, relay: true });
  await expect.poll(() => swept.length, patience).toBeGreaterThanOrEqual(2);
});

test("a schedule that the bus has forgotten to make due is set anew", async () => {
  const scope = await scopeOf("forgotten");
  const at = new Date(Date.now() + 500);
  const stuck = await publishUntilAnswered(bus, sweeps.at(scope), "", {
    schedule: { at, target: sweeps.due(scope) },
  });
  // What falls due is too large for its stream, and the bus does not try again.
  await bus.jsm.streams.update(timersStream(scope.fn), { max_msg_size: 1 });
  await expect.poll(async () => Date.now() - (await dueAt(scope)), patience).toBeGreaterThan(1000);
  await bus.jsm.streams.update(timersStream(scope.fn), { max_msg_size: -1 });
  expect((await schedule(scope))?.seq).toBe(stuck);
  const { swept } = start(scope, { everyMillis: 300, relay: true });
  await expect.poll(() => swept.length, patience).toBeGreaterThanOrEqual(2);
});

test("the next sweep is set before the work of this one begins", async () => {
  const scope = await scopeOf("before");
  await bus.jsm.streams.purge(timersStream(scope.fn));
  const seen: boolean[] = [];
  const { sweep } = start(scope, {
    everyMillis: 600_000,
    async request() {
      seen.push((await schedule(scope)) !== undefined);
      throw new Error("the bus is full");
    },
  });
  await expect.poll(() => schedule(scope), patience).toBeDefined();
  await bus.jsm.streams.purge(timersStream(scope.fn));
  await expect(sweep.due(unanswered)).rejects.toThrow("the bus is full");
  expect(new Set(seen)).toEqual(new Set([true]));
});

test("who sweeps for long says so, that nobody else begins as well", async () => {
  const scope = await scopeOf("long");
  const { sweep, requested } = start(scope, { everyMillis: 600_000 });
  const requestedBefore: number[] = [];
  const extend = async () => {
    requestedBefore.push(requested.size);
  };
  expect(await sweep.due({ extend })).toBe("swept");
  expect(requestedBefore).toEqual([100, 150]);
});

test("a stopped process hands a sweep back, and another one does it", async () => {
  const scope = await scopeOf("handed-back");
  const asked = Promise.withResolvers<void>();
  const stuck = start(scope, {
    everyMillis: 600_000,
    relay: true,
    // As while the bus does not answer.
    request: (_key, _request, signal) =>
      new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        asked.resolve();
      }),
  });
  await fire(scope);
  await asked.promise;
  await stuck.stop();
  expect(stuck.swept).toEqual(["stopped"]);
  expect(stuck.errors).toEqual([]);
  const other = start(scope, { everyMillis: 600_000, relay: true });
  await expect.poll(() => other.swept, patience).toEqual(["swept"]);
  expect([...other.requested.keys()].sort()).toEqual(keys);
});

test("a process that is stopped already does nothing of a sweep that comes then", async () => {
  const scope = await scopeOf("stopped");
  const { sweep, requested, stop } = start(scope, { everyMillis: 600_000 });
  await stop();
  expect(await sweep.due(unanswered)).toBe("stopped");
  expect(requested.size).toBe(0);
});

test("stopping waits for nothing that may take long", async () => {
  const scope = await scopeOf("quick");
  const { sweep, stop } = start(scope, { everyMillis: 600_000 });
  await expect.poll(() => schedule(scope), patience).toBeDefined();
  await stop();
  await expect(sweep.ended).resolves.toBeUndefined();
});

test("a function without a sweep takes away the one that is left of it, and relays all the same", async () => {
  const scope = await scopeOf("without");
  const queue = ticketQueue(bus, scope, { replica: "replica" });
  const errors: unknown[] = [];
  const stopping = new AbortController();
  const relay = startRelay({
    bus,
    queue,
    slots: 4,
    signal: stopping.signal,
    onError: (error) => errors.push(error),
  });
  running.push(() => relay.stop());
  await fire(scope);
  const key = { namespace: "default", name: "due" };
  await publishUntilAnswered(bus, work.timerDue(scope, key), JSON.stringify(newRequest({ type: "timer" })));
  await expect.poll(() => inStream(scope), patience).toEqual({});
  const { state } = await bus.jsm.streams.info(workStream(scope.fn), { subjects_filter: ">" });
  expect(state.subjects).toEqual({ [work.ticket(scope, key)]: 1 });
  expect(errors).toEqual([]);
});

test("a bus that does not answer is told of, and asked again", async () => {
  const scope = await scopeOf("unanswered");
  let asked = 0;
  const getMessage = (...args: Parameters<typeof bus.jsm.direct.getMessage>) =>
    ++asked <= 2 ? Promise.reject(new Error(`no answer ${asked}`)) : bus.jsm.direct.getMessage(...args);
  const { errors } = start(scope, { everyMillis: 100, bus: withDirect({ getMessage }) });
  await expect.poll(() => asked, patience).toBeGreaterThan(2);
  expect(errors).toEqual([new Error("no answer 1"), new Error("no answer 2")]);
});

test("what nobody's object is keeps no object from being swept", async () => {
  const scope = await scopeOf("among-garbage");
  const subject = kindSubjects(cluster, Thing).replace(/>$/, "");
  const garbage = [`${subject}default.=ZZ.name`, `${subject}short`, `${subject}default._.name.and.more`];
  for (const one of garbage) await publishUntilAnswered(bus, one, "garbage");
  const { sweep, requested } = start(scope, { everyMillis: 600_000 });
  try {
    expect(await sweep.due(unanswered)).toBe("swept");
    expect([...requested.keys()].sort()).toEqual(keys);
  } finally {
    for (const filter of garbage) await bus.jsm.streams.purge(streams.objects, { filter });
  }
});
