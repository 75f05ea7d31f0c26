/** Sweeps on a real server: every object is requested at an interval, once for all replicas, even if the schedule is lost. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Delivery } from "../../bus/nats/delivery.ts";
import { publishUntilAnswered } from "../../bus/queue/publish.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { startRelay } from "../../bus/queue/relay.ts";
import { newRequest } from "../../bus/queue/request.ts";
import { kindSubjects, streams, sweeps, timersStream, work, workStream } from "../../bus/subjects.ts";
import { cluster, keys, names, type Sweeping, startSweeping, Thing } from "./sweeping.ts";

const polling = { timeout: 60_000, interval: 50 };
let sweeping: Sweeping;
beforeAll(async () => {
  sweeping = await startSweeping();
});
afterEach(() => sweeping.end());
afterAll(() => sweeping?.stop());

const unanswered: Pick<Delivery, "extend"> = { extend: async () => undefined };
const fewest = (counts: ReadonlyMap<string, number>): number =>
  counts.size < names.length ? 0 : Math.min(...counts.values());

test("requests every object of the kind repeatedly without any event", async () => {
  const { start, take } = await sweeping.of("again");
  const { requested, errors } = start({ everyMillis: 300, relay: true });
  const taken = take();
  await expect.poll(() => fewest(taken), polling).toBeGreaterThanOrEqual(3);
  expect([...requested.keys()].sort()).toEqual(keys);
  expect([...taken.keys()].sort()).toEqual(names.toSorted());
  expect(errors).toEqual([]);
});

test("leaves no mark for an owned object", async () => {
  const { bus } = sweeping;
  const { scope, start, inStream } = await sweeping.of("owned");
  const { swept } = start({ everyMillis: 300, relay: true });
  // No worker takes the tickets: after the first sweep all of them exist.
  await expect.poll(() => swept.length, polling).toBeGreaterThanOrEqual(3);
  const { state } = await bus.jsm.streams.info(workStream(scope.fn));
  expect([state.messages, state.last_seq]).toEqual([names.length, names.length]);
  expect(Object.keys(await inStream()).filter((subject) => subject.startsWith("marks."))).toEqual([]);
});

test("replicas share one schedule, and one replica runs each sweep", async () => {
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
  await expect.poll(() => swept().length, { ...polling, timeout: 60_000 }).toBeGreaterThanOrEqual(8);
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
  // With one schedule per replica, several would fall due within one interval.
  const [first, last] = [Math.min(...times), Math.max(...times)];
  expect(new Set(due).size).toBeLessThanOrEqual((last - first) / everyMillis + 1);
  expect(processes.flatMap(({ errors }) => errors)).toEqual([]);
});

test("replicas that start at the same time set one schedule", async () => {
  const { bus } = sweeping;
  const { scope, start, inStream } = await sweeping.of("at-once");
  const processes = Array.from({ length: 8 }, () => start({ everyMillis: 600_000 }));
  await expect.poll(inStream, polling).toEqual({ [sweeps.at(scope)]: 1 });
  await Promise.all(processes.map(({ stop }) => stop()));
  const { state } = await bus.jsm.streams.info(timersStream(scope.fn));
  expect([state.messages, state.last_seq]).toEqual([1, 1]);
  expect(processes.flatMap(({ errors }) => errors)).toEqual([]);
});

test("a replica that starts later does not change the schedule", async () => {
  const { bus } = sweeping;
  const { scope, start, schedule } = await sweeping.of("later");
  const everyMillis = 600_000;
  const at = new Date(Date.now() + 1.9 * everyMillis);
  const set = await publishUntilAnswered(bus, sweeps.at(scope), "", {
    schedule: { at, target: sweeps.due(scope) },
  });
  let reads = 0;
  const getMessage = async (...args: Parameters<typeof bus.jsm.direct.getMessage>) => {
    const found = await bus.jsm.direct.getMessage(...args);
    reads++;
    return found;
  };
  for (const _ of [1, 2]) start({ everyMillis, direct: { getMessage } });
  // By then, a replica that sets it again would have sent the message.
  await expect.poll(() => reads, polling).toBe(2);
  expect((await schedule())?.seq).toBe(set);
});

test("sets a deleted schedule again", async () => {
  const { bus } = sweeping;
  const { scope, start, schedule } = await sweeping.of("deleted");
  start({ everyMillis: 1000 });
  await expect.poll(schedule, polling).toBeDefined();
  const before = (await bus.jsm.streams.info(timersStream(scope.fn))).state.last_seq;
  await bus.jsm.streams.purge(timersStream(scope.fn), { filter: sweeps.at(scope) });
  await expect.poll(async () => (await schedule())?.seq, polling).toBeGreaterThan(before);
});

test("replaces a message that is not a schedule", async () => {
  const { bus } = sweeping;
  const { scope, start, schedule } = await sweeping.of("garbage");
  const garbage = await publishUntilAnswered(bus, sweeps.at(scope), "garbage");
  const { swept } = start({ everyMillis: 300, relay: true });
  await expect.poll(() => swept.length, polling).toBeGreaterThanOrEqual(2);
  await expect.poll(async () => (await schedule())?.seq, polling).toBeGreaterThan(garbage);
});

test("replaces a schedule from a version with a longer interval", async () => {
  const { bus } = sweeping;
  const { scope, start } = await sweeping.of("rarely");
  const at = new Date(Date.now() + 3_600_000);
  await publishUntilAnswered(bus, sweeps.at(scope), "", { schedule: { at, target: sweeps.due(scope) } });
  const { swept } = start({ everyMillis: 300, relay: true });
  await expect.poll(() => swept.length, polling).toBeGreaterThanOrEqual(2);
});

test("replaces a schedule from a version with another target subject", async () => {
  const { bus } = sweeping;
  const { scope, start, schedule } = await sweeping.of("elsewhere");
  const at = new Date(Date.now() + 600_000);
  const target = `sweeps.due.${scope.fn}.${scope.cluster}`;
  await publishUntilAnswered(bus, sweeps.at(scope), "", { schedule: { at, target } });
  start({ everyMillis: 600_000 });
  const planned = async () => (await schedule())?.header.get("Nats-Schedule-Target");
  await expect.poll(planned, polling).toBe(sweeps.due(scope));
});

test("sets a stranded schedule again", async () => {
  const { bus } = sweeping;
  const { scope, start, schedule, dueAt } = await sweeping.of("forgotten");
  const stream = timersStream(scope.fn);
  let stuck = 0;
  // A schedule that fires before the bus is kept from it is not stranded: then set another one.
  for (let millis = 3000; (await schedule()) === undefined; millis *= 2) {
    await bus.jsm.streams.update(stream, { max_msg_size: -1 });
    await bus.jsm.streams.purge(stream);
    const at = new Date(Date.now() + millis);
    stuck = await publishUntilAnswered(bus, sweeps.at(scope), "", {
      schedule: { at, target: sweeps.due(scope) },
    });
    // The due message is too large for its stream, and the bus does not retry.
    await bus.jsm.streams.update(stream, { max_msg_size: 1 });
  }
  await expect.poll(async () => Date.now() - (await dueAt()), polling).toBeGreaterThan(1000);
  await bus.jsm.streams.update(stream, { max_msg_size: -1 });
  expect((await schedule())?.seq).toBe(stuck);
  const { swept } = start({ everyMillis: 300, relay: true });
  await expect.poll(() => swept.length, polling).toBeGreaterThanOrEqual(2);
});

test("sets the next schedule before the work of a sweep starts", async () => {
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
  await expect.poll(schedule, polling).toBeDefined();
  await bus.jsm.streams.purge(timersStream(scope.fn));
  await expect(sweep.due(unanswered)).rejects.toThrow("the bus is full");
  expect(new Set(seen)).toEqual(new Set([true]));
});

test("a long sweep extends its message, so that no other replica starts it too", async () => {
  const { start } = await sweeping.of("long");
  const { sweep, requested } = start({ everyMillis: 600_000 });
  const requestedBefore: number[] = [];
  const extend = async () => {
    requestedBefore.push(requested.size);
  };
  expect(await sweep.due({ extend })).toBe("swept");
  expect(requestedBefore).toEqual([100, 150]);
});

test("a stopped process hands its sweep back, and another one runs it", async () => {
  const { start, fire } = await sweeping.of("handed-back");
  const asked = Promise.withResolvers<void>();
  const stuck = start({
    everyMillis: 600_000,
    relay: true,
    // As if the bus did not answer.
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
  await expect.poll(() => other.swept, polling).toEqual(["swept"]);
  expect([...other.requested.keys()].sort()).toEqual(keys);
});

test("a stopped process does not start a sweep", async () => {
  const { start } = await sweeping.of("stopped");
  const { sweep, requested, stop } = start({ everyMillis: 600_000 });
  await stop();
  expect(await sweep.due(unanswered)).toBe("stopped");
  expect(requested.size).toBe(0);
});

test("stopping does not wait for the interval", async () => {
  const { start, schedule } = await sweeping.of("quick");
  const { sweep, stop } = start({ everyMillis: 600_000 });
  await expect.poll(schedule, polling).toBeDefined();
  await stop();
  await expect(sweep.ended).resolves.toBeUndefined();
});

test("a function without a sweep acknowledges a leftover schedule, and still relays", async () => {
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
  await expect.poll(inStream, polling).toEqual({});
  const { state } = await bus.jsm.streams.info(workStream(scope.fn), { subjects_filter: ">" });
  expect(state.subjects).toEqual({ [work.ticket(scope, key)]: 1 });
  expect(errors).toEqual([]);
});

test("reports a bus that does not answer, and retries", async () => {
  const { bus } = sweeping;
  const { start } = await sweeping.of("unanswered");
  let asked = 0;
  const getMessage = (...args: Parameters<typeof bus.jsm.direct.getMessage>) =>
    ++asked <= 2 ? Promise.reject(new Error(`no answer ${asked}`)) : bus.jsm.direct.getMessage(...args);
  const { errors } = start({ everyMillis: 100, direct: { getMessage } });
  await expect.poll(() => asked, polling).toBeGreaterThan(2);
  expect(errors).toEqual([new Error("no answer 1"), new Error("no answer 2")]);
});

test("subjects that name no object do not prevent a sweep", async () => {
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
