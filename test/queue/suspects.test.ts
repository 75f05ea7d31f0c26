/** The lane of those that may have killed a worker: who is blamed, and who waits for whom. */
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
const patience = { timeout: 30_000, interval: 20 };
let local: LocalBus;
let bus: Bus;
beforeAll(async () => {
  local = await startLocalBus();
  bus = local.bus;
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 3000 });
});
afterAll(() => local?.stop());

const at = (name: string) => ({ namespace: "default", name });

/** A lane whose suspects end on command, with a record of its actions. After `frozenAt` begins it notes nothing until `thaw`. */
function laneOf(fn: string, frozenAt?: string) {
  const starts = openCrashRecords(bus, { fn, cluster: "local" });
  const thaw = Promise.withResolvers<void>();
  let frozen = false;
  const began: string[] = [];
  const givenUp: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const endOf = (name: string) => ends.get(name) ?? ends.set(name, Promise.withResolvers()).get(name);
  const lane = quarantine({
    starts: {
      ...starts,
      async add(...args) {
        // Soon after the last suspect has begun all are noted again: not before the test has looked.
        if (frozen) await thaw.promise;
        return starts.add(...args);
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
    starts,
    began,
    givenUp,
    thaw: () => thaw.resolve(),
    end: (name: string) => endOf(name)?.resolve(),
    /** Puts a suspect on trial; `wrote` resolves with its first write. */
    take: (name: string, wrote = new Promise<void>(() => undefined)) => {
      const ticket = { assertOwned: () => undefined } as Ticket;
      const request = newRequest({ type: "timer" });
      const firstRead = Promise.resolve({ entry: undefined, family: undefined });
      const seen = new Map<string, string>();
      const job = { ticket, key: at(name), request, firstRead, seen, writes: 0, wrote, log };
      return lane(job as unknown as Job);
    },
  };
}

/** Starts that nobody took back: what a process that died at this moment would leave. */
async function blamed(starts: CrashRecords, name: string): Promise<number> {
  const start = await starts.add(at(name));
  await starts.remove(at(name), start);
  return start.before.all;
}

/** Workers died over it before, and it had written something by then or not. */
async function diedOver(starts: CrashRecords, name: string, count: number, wrote = false): Promise<void> {
  for (let i = 0; i < count; i++) await starts.add(at(name), undefined, wrote);
}

test("one that hangs gives way, and is not blamed for what the next one does", async () => {
  const { starts, began, end, take, thaw } = laneOf("gives-way", "next");
  const hanging = take("hangs");
  const next = take("next");
  await expect.poll(() => began, patience).toEqual(["hangs", "next"]);
  expect(await blamed(starts, "next")).toBe(1);
  expect(await blamed(starts, "hangs")).toBe(0);
  thaw();
  end("hangs");
  end("next");
  await Promise.all([hanging, next]);
  await expect.poll(() => blamed(starts, "next"), patience).toBe(0);
});

test("all that still run are blamed when nobody is on trial any more", async () => {
  const { starts, began, end, take, thaw } = laneOf("together", "fourth");
  const all = ["first", "second", "third"].map((name) => take(name));
  await expect.poll(() => began, patience).toEqual(["first", "second", "third"]);
  for (const name of began) await expect.poll(() => blamed(starts, name), patience).toBe(1);
  // The newcomer alone again.
  const fourth = take("fourth");
  await expect.poll(() => began.length, patience).toBe(4);
  for (const name of ["first", "second", "third"]) expect(await blamed(starts, name)).toBe(0);
  thaw();
  for (const name of began) end(name);
  await Promise.all([...all, fourth]);
  for (const name of began) await expect.poll(() => blamed(starts, name), patience).toBe(0);
});

test("one at its last chance has the lane until it ends, and is forgiven then", async () => {
  const { starts, began, end, take } = laneOf("last-chance");
  await diedOver(starts, "last", maxCrashes - 1);
  const last = take("last");
  await expect.poll(() => began, patience).toEqual(["last"]);
  const others = Array.from({ length: 3 }, (_, i) => take(`other-${i}`));
  const ended = last.then(() => began.push("last ended"));
  expect(await blamed(starts, "last")).toBe(maxCrashes);
  // As long as two that may be waited for no longer.
  const { take: besides, began: beganBesides, end: endBesides } = laneOf("besides");
  const yardstick = ["a", "b", "c"].map((name) => besides(name));
  await expect.poll(() => beganBesides, patience).toEqual(["a", "b", "c"]);
  expect(began).toEqual(["last"]);
  end("last");
  await ended;
  await expect.poll(() => began, patience).toHaveLength(5);
  expect(began.indexOf("last ended")).toBe(1);
  await expect.poll(() => blamed(starts, "last"), patience).toBe(0);
  for (const name of began) end(name);
  for (const name of beganBesides) endBesides(name);
  await Promise.all([...others, ...yardstick]);
});

test("one that so many died over is given up without a run", async () => {
  const { starts, began, givenUp, take } = laneOf("given-up");
  await diedOver(starts, "kills", maxCrashes);
  await take("kills");
  expect(began).toEqual([]);
  expect(givenUp).toEqual(["kills"]);
  await expect.poll(() => blamed(starts, "kills"), patience).toBe(0);
});

test("one that writes something before each death is not the one that kills, for three times as long", async () => {
  const { starts, began, givenUp, end, take } = laneOf("gets-on");
  await diedOver(starts, "gets-on", maxCrashes * 3 - 1, true);
  const run = take("gets-on", Promise.resolve());
  await expect.poll(() => began, patience).toEqual(["gets-on"]);
  expect(givenUp).toEqual([]);
  end("gets-on");
  await run;
  await expect.poll(() => blamed(starts, "gets-on"), patience).toBe(0);
  await diedOver(starts, "gets-on", maxCrashes * 3, true);
  await take("gets-on");
  expect(givenUp).toEqual(["gets-on"]);
});

test("what a suspect writes while it is on trial is noted", async () => {
  const { starts, began, end, take } = laneOf("writes");
  const wrote = Promise.withResolvers<void>();
  const run = take("writes", wrote.promise);
  await expect.poll(() => began, patience).toEqual(["writes"]);
  const deaths = async () => {
    const start = await starts.add(at("writes"));
    await starts.remove(at("writes"), start);
    return start.before;
  };
  expect(await deaths()).toEqual({ all: 1, barren: 1 });
  wrote.resolve();
  await expect.poll(deaths, patience).toEqual({ all: 1, barren: 0 });
  end("writes");
  await run;
});
