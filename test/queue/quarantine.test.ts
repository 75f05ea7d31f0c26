/** The quarantine of objects that may have crashed a worker: crash records and the order of records. */
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bus } from "../../bus/nats/connect.ts";
import { type CrashRecords, openCrashRecords } from "../../bus/queue/crashrecords.ts";
import { newRequest } from "../../bus/queue/request.ts";
import { ensureTopology } from "../../bus/topology.ts";
import type { Job } from "../../bus/worker/job.ts";
import type { Ticket } from "../../bus/worker/ownership.ts";
import { quarantine } from "../../bus/worker/quarantine.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

const maxCrashes = 3;
const polling = { timeout: 30_000, interval: 20 };
let local: LocalBus;
let bus: Bus;
beforeAll(async () => {
  local = await startLocalBus();
  bus = local.bus;
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 3000 });
});
afterAll(() => local?.stop());

const at = (name: string) => ({ namespace: "default", name });

/** A quarantine whose jobs end on command. After `frozenAt` has started, it adds no crash record until `thaw`. */
function quarantineOf(fn: string, frozenAt?: string) {
  const records = openCrashRecords(bus, { fn, cluster: "local" });
  const thaw = Promise.withResolvers<void>();
  let frozen = false;
  const began: string[] = [];
  const givenUp: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const endOf = (name: string) => ends.get(name) ?? ends.set(name, Promise.withResolvers()).get(name);
  const enter = quarantine({
    crashRecords: {
      ...records,
      async add(...args) {
        // Soon after the last job has started, all get a record again: not before the test has checked.
        if (frozen) await thaw.promise;
        return records.add(...args);
      },
    },
    maxCrashes,
    kind: Probe,
    run: async ({ key }) => {
      began.push(key.name);
      frozen ||= key.name === frozenAt;
      await endOf(key.name)?.promise;
    },
    giveUp: async ({ key }) => {
      givenUp.push(key.name);
    },
  });
  const log = pino({ level: "silent" });
  return {
    records,
    began,
    givenUp,
    thaw: () => thaw.resolve(),
    end: (name: string) => endOf(name)?.resolve(),
    /** Puts a job into quarantine; `firstWrite` resolves at its first write. */
    take: (name: string, firstWrite = new Promise<void>(() => undefined)) => {
      const ticket = { assertOwned: () => undefined } as Ticket;
      const request = newRequest({ type: "timer" });
      const firstRead = Promise.resolve({ entry: undefined, family: undefined });
      const seen = new Map<string, string>();
      const job = { ticket, key: at(name), request, firstRead, seen, writes: 0, firstWrite, log };
      return enter(job as unknown as Job);
    },
  };
}

/** The records of an object that would remain if its process died at this moment. */
async function recorded(records: CrashRecords, name: string): Promise<number> {
  const start = await records.add(at(name));
  await records.remove(at(name), start);
  return start.before.all;
}

/** Adds records of earlier crashes, after a write or without one. */
async function crashedOver(records: CrashRecords, name: string, count: number, wrote = false): Promise<void> {
  for (let i = 0; i < count; i++) await records.add(at(name), undefined, wrote);
}

test("a hanging job lets the next one start, and loses its record before that", async () => {
  const { records, began, end, take, thaw } = quarantineOf("gives-way", "next");
  const hanging = take("hangs");
  const next = take("next");
  await expect.poll(() => began, polling).toEqual(["hangs", "next"]);
  expect(await recorded(records, "next")).toBe(1);
  expect(await recorded(records, "hangs")).toBe(0);
  thaw();
  end("hangs");
  end("next");
  await Promise.all([hanging, next]);
  await expect.poll(() => recorded(records, "next"), polling).toBe(0);
});

test("all running jobs have a record again once no other job waits", async () => {
  const { records, began, end, take, thaw } = quarantineOf("together", "fourth");
  const all = ["first", "second", "third"].map((name) => take(name));
  await expect.poll(() => began, polling).toEqual(["first", "second", "third"]);
  for (const name of began) await expect.poll(() => recorded(records, name), polling).toBe(1);
  // Now only the newcomer has a record.
  const fourth = take("fourth");
  await expect.poll(() => began.length, polling).toBe(4);
  for (const name of ["first", "second", "third"]) expect(await recorded(records, name)).toBe(0);
  thaw();
  for (const name of began) end(name);
  await Promise.all([...all, fourth]);
  for (const name of began) await expect.poll(() => recorded(records, name), polling).toBe(0);
});

test("a job at its last chance runs alone, and its records are cleared when it ends", async () => {
  const { records, began, end, take } = quarantineOf("last-chance");
  await crashedOver(records, "last", maxCrashes - 1);
  const last = take("last");
  await expect.poll(() => began, polling).toEqual(["last"]);
  const others = Array.from({ length: 3 }, (_, i) => take(`other-${i}`));
  const ended = last.then(() => began.push("last ended"));
  expect(await recorded(records, "last")).toBe(maxCrashes);
  // Wait as long as two jobs take their turns.
  const { take: besides, began: beganBesides, end: endBesides } = quarantineOf("besides");
  const yardstick = ["a", "b", "c"].map((name) => besides(name));
  await expect.poll(() => beganBesides, polling).toEqual(["a", "b", "c"]);
  expect(began).toEqual(["last"]);
  end("last");
  await ended;
  await expect.poll(() => began, polling).toHaveLength(5);
  expect(began.indexOf("last ended")).toBe(1);
  await expect.poll(() => recorded(records, "last"), polling).toBe(0);
  for (const name of began) end(name);
  for (const name of beganBesides) endBesides(name);
  await Promise.all([...others, ...yardstick]);
});

test("a job over the crash limit is given up without running", async () => {
  const { records, began, givenUp, take } = quarantineOf("given-up");
  await crashedOver(records, "kills", maxCrashes);
  await take("kills");
  expect(began).toEqual([]);
  expect(givenUp).toEqual(["kills"]);
  await expect.poll(() => recorded(records, "kills"), polling).toBe(0);
});

test("a job that writes something before each crash has three times the crash limit", async () => {
  const { records, began, givenUp, end, take } = quarantineOf("gets-on");
  await crashedOver(records, "gets-on", maxCrashes * 3 - 1, true);
  const run = take("gets-on", Promise.resolve());
  await expect.poll(() => began, polling).toEqual(["gets-on"]);
  expect(givenUp).toEqual([]);
  end("gets-on");
  await run;
  await expect.poll(() => recorded(records, "gets-on"), polling).toBe(0);
  await crashedOver(records, "gets-on", maxCrashes * 3, true);
  await take("gets-on");
  expect(givenUp).toEqual(["gets-on"]);
});

test("records the first write of a running job", async () => {
  const { records, began, end, take } = quarantineOf("writes");
  const wrote = Promise.withResolvers<void>();
  const run = take("writes", wrote.promise);
  await expect.poll(() => began, polling).toEqual(["writes"]);
  const deaths = async () => {
    const start = await records.add(at("writes"));
    await records.remove(at("writes"), start);
    return start.before;
  };
  expect(await deaths()).toEqual({ all: 1, withoutWrite: 1 });
  wrote.resolve();
  await expect.poll(deaths, polling).toEqual({ all: 1, withoutWrite: 0 });
  end("writes");
  await run;
});
