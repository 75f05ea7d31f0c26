/** Sweeps on a real server: every object is requested again and again, once for all replicas, whatever becomes of the schedule. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Delivery } from "../../bus/nats/delivery.ts";
import { publishUntilAnswered } from "../../bus/queue/publish.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { startRelay } from "../../bus/queue/relay.ts";
import { newRequest } from "../../bus/queue/request.ts";
import { kindSubjects, streams, sweeps, timersStream, work, workStream } from "../../bus/subjects.ts";
import { cluster, keys, names, type Sweeping, startSweeping, Thing } from "./sweeping.ts";

const patience = { timeout: 60_000, interval: 50 };
let sweeping: Sweeping;
beforeAll(async () => {
  sweeping = await startSweeping();
});
afterEach(() => sweeping.end());
afterAll(() => sweeping?.stop());

const unanswered: Pick<Delivery, "extend"> = { extend: async () => undefined };
const fewest = (counts: ReadonlyMap<string, number>): number =>
  counts.size < names.length ? 0 : Math.min(...counts.values());

test("every object of the kind is requested again and again, although nothing happens", async () => {
  const { start, take } = await sweeping.of("again");
  const { requested, errors } = start({ everyMillis: 300, relay: true });
  const taken = take();
  await expect.poll(() => fewest(taken), patience).toBeGreaterThanOrEqual(3);
  expect([...requested.keys()].sort()).toEqual(keys);
  expect([...taken.keys()].sort()).toEqual(names.toSorted());
  expect(errors).toEqual([]);
});

test("an object that somebody owns is left to its owner", async () => {
  const { bus } = sweeping;
  const { scope, start, inStream } = await sweeping.of("owned");
  const { swept } = start({ everyMillis: 300, relay: true });
  // Nobody takes the tickets: after the first sweep all of them are there.
  await expect.poll(() => swept.length, patience).toBeGreaterThanOrEqual(3);
  const { state } = await bus.jsm.streams.info(workStream(scope.fn));
  expect([state.messages, state.last_seq]).toEqual([names.length, names.length]);
  expect(Object.keys(await inStream()).filter((subject) => subject.startsWith("marks."))).toEqual([]);
});

test("replicas have one schedule together, and each sweep is one replica's", async () => {
  const { bus } = sweeping;
  const { scope, start } = await sweeping.of("together");
  const everyMillis = 400;
  const times = new Set<number>();
  const watching = bus.nc.subscribe(sweeps.at(scope), {
    callback: (_, message) => {
      times.add(Date.parse(message.headers?.get("Nats-Schedule").slice("@at ".length) ?? ""));
    },
  });
  const processes = [1, 2, 3].map(() => start({ everyMillis, relay: true }));
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
  const { bus } = sweeping;
  const { scope, start, inStream } = await sweeping.of("at-once");
  const processes = Array.from({ length: 8 }, () => start({ everyMillis: 600_000 }));
  await expect.poll(inStream, patience).toEqual({ [sweeps.at(scope)]: 1 });
  await Promise.all(processes.map(({ stop }) => stop()));
  const { state } = await bus.jsm.streams.info(timersStream(scope.fn));
  expect([state.messages, state.last_seq]).toEqual([1, 1]);
  expect(processes.flatMap(({ errors }) => errors)).toEqual([]);
});

test("a replica that starts later leaves the schedule as it is", async () => {
  const { bus } = sweeping;
  const { scope, start, schedule } = await sweeping.of("later");
  const everyMillis = 600_000;
  const at = new Date(Date.now() + 1.9 * everyMillis);
  const set = await publishUntilAnswered(bus, sweeps.at(scope), "", {
    schedule: { at, target: sweeps.due(scope) },
  });
  let looks = 0;
  const getMessage = async (...args: Parameters<typeof bus.jsm.direct.getMessage>) => {
    const found = await bus.jsm.direct.getMessage(...args);
    looks++;
    return found;
  };
  for (const _ of [1, 2]) start({ everyMillis, direct: { getMessage } });
  // A replica that sets it again has sent the message by then.
  await expect.poll(() => looks, patience).toBe(2);
  expect((await schedule())?.seq).toBe(set);
});

test("a schedule that is deleted is set again", async () => {
  const { bus } = sweeping;
  const { scope, start, schedule } = await sweeping.of("deleted");
  start({ everyMillis: 1000 });
  await expect.poll(schedule, patience).toBeDefined();
  const before = (await bus.jsm.streams.info(timersStream(scope.fn))).state.last_seq;
  await bus.jsm.streams.purge(timersStream(scope.fn), { filter: sweeps.at(scope) });
  await expect.poll(async () => (await schedule())?.seq, patience).toBeGreaterThan(before);
});

test("what is no schedule, and so never falls due, makes way for one", async () => {
  const { bus } = sweeping;
  const { scope, start, schedule } = await sweeping.of("garbage");
  const garbage = await publishUntilAnswered(bus, sweeps.at(scope), "garbage");
  const { swept } = start({ everyMillis: 300, relay: true });
  await expect.poll(() => swept.length, patience).toBeGreaterThanOrEqual(2);
  await expect.poll(async () => (await schedule())?.seq, patience).toBeGreaterThan(garbage);
});

test("a schedule of a version that has swept more rarely makes way for one", async () => {
  const { bus } = sweeping;
  const { scope, start } = await sweeping.of("rarely");
  const at = new Date(Date.now() + 3_600_000);
  await publishUntilAnswered(bus, sweeps.at(scope), "", { schedule: { at, target: sweeps.due(scope) } });
  const { swept } = start({ everyMillis: 300, relay: true });
  await expect.poll(() => swept.length, patience).toBeGreaterThanOrEqual(2);
});

test("a schedule of a version that has swept on another subject makes way for one", async () => {
  const { bus } = sweeping;
  const { scope, start, schedule } = await sweeping.of("elsewhere");
  const at = new Date(Date.now() + 600_000);
  const target = `sweeps.due.${scope.fn}.${scope.cluster}`;
  await publishUntilAnswered(bus, sweeps.at(scope), "", { schedule: { at, target } });
  start({ everyMillis: 600_000 });
  const planned = async () => (await schedule())?.header.get("Nats-Schedule-Target");
  await expect.poll(planned, patience).toBe(sweeps.due(scope));
});

test("a schedule that the bus has forgotten to make due is set anew", async () => {
  const { bus } = sweeping;
  const { scope, start, schedule, dueAt } = await sweeping.of("forgotten");
  const stream = timersStream(scope.fn);
  let stuck = 0;
  // One that falls due before the bus can be kept from it is not forgotten: then another one is set.
  for (let millis = 3000; (await schedule()) === undefined; millis *= 2) {
    await bus.jsm.streams.update(stream, { max_msg_size: -1 });
    await bus.jsm.streams.purge(stream);
    const at = new Date(Date.now() + millis);
    stuck = await publishUntilAnswered(bus, sweeps.at(scope), "", {
      schedule: { at, target: sweeps.due(scope) },
    });
    // The message that falls due is too large for its stream, and the bus does not try again.
    await bus.jsm.streams.update(stream, { max_msg_size: 1 });
  }
  await expect.poll(async () => Date.now() - (await dueAt()), patience).toBeGreaterThan(1000);
  await bus.jsm.streams.update(stream, { max_msg_size: -1 });
  expect((await schedule())?.seq).toBe(stuck);
  const { swept } = start({ everyMillis: 300, relay: true });
  await expect.poll(() => swept.length, patience).toBeGreaterThanOrEqual(2);
});

test("the next sweep is set before the work of this one begins", async () => {
  const { bus } = sweeping;
  const { scope, start, schedule } = await sweeping.of("before");
  await bus.jsm.streams.purge(timersStream(scope.fn));
  const seen: boolean[] = [];
  const { sweep } = start({
    everyMillis: 600_000,
    async request() {
      seen.push((await schedule()) !== undefined);
      throw new Error("the bus is full");
    },
  });
  await expect.poll(schedule, patience).toBeDefined();
  await bus.jsm.streams.purge(timersStream(scope.fn));
  await expect(sweep.due(unanswered)).rejects.toThrow("the bus is full");
  expect(new Set(seen)).toEqual(new Set([true]));
});

test("who sweeps for long says so, that nobody else begins as well", async () => {
  const { start } = await sweeping.of("long");
  const { sweep, requested } = start({ everyMillis: 600_000 });
  const requestedBefore: number[] = [];
  const extend = async () => {
    requestedBefore.push(requested.size);
  };
  expect(await sweep.due({ extend })).toBe("swept");
  expect(requestedBefore).toEqual([100, 150]);
});

test("a stopped process hands a sweep back, and another one does it", async () => {
  const { start, fire } = await sweeping.of("handed-back");
  const asked = Promise.withResolvers<void>();
  const stuck = start({
    everyMillis: 600_000,
    relay: true,
    // As while the bus does not answer.
    request: (_key, _request, signal) =>
      new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        asked.resolve();
      }),
  });
  await fire();
  await asked.promise;
  await stuck.stop();
  expect(stuck.swept).toEqual(["stopped"]);
  expect(stuck.errors).toEqual([]);
  const other = start({ everyMillis: 600_000, relay: true });
  await expect.poll(() => other.swept, patience).toEqual(["swept"]);
  expect([...other.requested.keys()].sort()).toEqual(keys);
});

test("a process that is stopped already does nothing of a sweep that comes then", async () => {
  const { start } = await sweeping.of("stopped");
  const { sweep, requested, stop } = start({ everyMillis: 600_000 });
  await stop();
  expect(await sweep.due(unanswered)).toBe("stopped");
  expect(requested.size).toBe(0);
});

test("stopping waits for nothing that may take long", async () => {
  const { start, schedule } = await sweeping.of("quick");
  const { sweep, stop } = start({ everyMillis: 600_000 });
  await expect.poll(schedule, patience).toBeDefined();
  await stop();
  await expect(sweep.ended).resolves.toBeUndefined();
});

test("a function without a sweep takes away the one that is left of it, and relays all the same", async () => {
  const { bus } = sweeping;
  const { scope, inStream, fire } = await sweeping.of("without");
  const queue = ticketQueue(bus, scope, { replica: "replica" });
  const errors: unknown[] = [];
  const stopping = new AbortController();
  const relay = startRelay({
    bus,
    queue,
    slots: 4,
    deadline: { ackWaitMillis: 5000, signal: stopping.signal },
    onError: (error) => errors.push(error),
  });
  sweeping.atEnd(() => relay.stop());
  await fire();
  const key = { namespace: "default", name: "due" };
  await publishUntilAnswered(bus, work.timerDue(scope, key), JSON.stringify(newRequest({ type: "timer" })));
  await expect.poll(inStream, patience).toEqual({});
  const { state } = await bus.jsm.streams.info(workStream(scope.fn), { subjects_filter: ">" });
  expect(state.subjects).toEqual({ [work.ticket(scope, key)]: 1 });
  expect(errors).toEqual([]);
});

test("a bus that does not answer is told of, and asked again", async () => {
  const { bus } = sweeping;
  const { start } = await sweeping.of("unanswered");
  let asked = 0;
  const getMessage = (...args: Parameters<typeof bus.jsm.direct.getMessage>) =>
    ++asked <= 2 ? Promise.reject(new Error(`no answer ${asked}`)) : bus.jsm.direct.getMessage(...args);
  const { errors } = start({ everyMillis: 100, direct: { getMessage } });
  await expect.poll(() => asked, patience).toBeGreaterThan(2);
  expect(errors).toEqual([new Error("no answer 1"), new Error("no answer 2")]);
});

test("what nobody's object is keeps no object from being swept", async () => {
  const { bus } = sweeping;
  const { start } = await sweeping.of("among-garbage");
  const subject = kindSubjects(cluster, Thing).replace(/>$/, "");
  const garbage = [`${subject}default.=ZZ.name`, `${subject}short`, `${subject}default._.name.and.more`];
  for (const one of garbage) await publishUntilAnswered(bus, one, "garbage");
  const { sweep, requested } = start({ everyMillis: 600_000 });
  try {
    expect(await sweep.due(unanswered)).toBe("swept");
    expect([...requested.keys()].sort()).toEqual(keys);
  } finally {
    for (const filter of garbage) await bus.jsm.streams.purge(streams.objects, { filter });
  }
});
