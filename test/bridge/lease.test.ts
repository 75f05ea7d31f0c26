import type { KV } from "@nats-io/kv";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { holderIn, holdLease, type LeaseOptions, type LeaseTimes } from "../../bus/bridge/lease.ts";
import { type Lease, sharedLease } from "../../bus/bridge/leases.ts";
import type { Bus } from "../../bus/nats/connect.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

const times: LeaseTimes = { renewMillis: 100, holdMillis: 400, takeMillis: 600 };
/** For tests in which a pause of a busy machine must not lose the lease. */
const calm: LeaseTimes = { renewMillis: 50, holdMillis: 6000, takeMillis: 6500 };
/** After this many renewals a lease has been held for longer than another candidate waits. */
const manyRenewals = (1.2 * calm.takeMillis) / calm.renewMillis;
let local: LocalBus;
let bus: Bus;
let kv: KV;
let keys = 0;

beforeAll(async () => {
  local = await startLocalBus();
  bus = local.bus;
  kv = await bus.kvm.create("LEASES", { history: 1 });
});
afterAll(() => local?.stop());

/** Resolves when the lease is lost. */
const untilLost = (held: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (held.aborted) resolve();
    held.addEventListener("abort", () => resolve());
  });

/** A candidate that ends with the test. */
function candidate(options: Pick<LeaseOptions, "key" | "holder"> & Partial<LeaseOptions>) {
  const stopping = new AbortController();
  const terms: AbortSignal[] = [];
  let took: () => void = () => undefined;
  const done = holdLease({
    kv,
    times,
    signal: stopping.signal,
    onError: () => undefined,
    async lead(held) {
      terms.push(held);
      took();
      await untilLost(held);
    },
    ...options,
  });
  const stop = async () => {
    stopping.abort();
    await done;
  };
  onTestFinished(stop);
  return {
    terms,
    stop,
    /** Resolves when it leads for the given time. */
    async leads(term = 1): Promise<AbortSignal> {
      while (terms.length < term)
        await new Promise<void>((resolve) => {
          took = resolve;
        });
      return terms[term - 1] as AbortSignal;
    },
  };
}
const newKey = () => `lease.${++keys}`;

test("lease - a stop during acquisition ends the lead and releases the lease", async () => {
  const key = newKey();
  const one = candidate({ key, holder: "one" });
  // The first read is in flight.
  await one.stop();
  expect(one.terms.map((held) => held.aborted)).toEqual([true]);
  expect((await kv.get(key))?.string()).toBe("");
});

test("lease - one candidate leads, and the other takes over at once after a release", async () => {
  const key = newKey();
  const [one, two] = ["one", "two"].map((holder) => candidate({ key, holder, times: calm })) as [
    ReturnType<typeof candidate>,
    ReturnType<typeof candidate>,
  ];
  await Promise.race([one.leads(), two.leads()]);
  const [leader, other] = one.terms.length > 0 ? [one, two] : [two, one];
  const { revision = 0 } = (await kv.get(key)) ?? {};
  const renewals = async () => ((await kv.get(key))?.revision ?? 0) - revision;
  await expect.poll(renewals, { timeout: 60_000 }).toBeGreaterThan(manyRenewals);
  expect([leader.terms.length, other.terms.length]).toEqual([1, 0]);
  await leader.stop();
  await other.leads();
  expect(leader.terms.map((held) => held.aborted)).toEqual([true]);
});

test("lease - reports a lead that throws, and starts it again", async () => {
  const errors: unknown[] = [];
  let tries = 0;
  const key = newKey();
  const one = candidate({
    key,
    holder: "one",
    onError: (error) => errors.push(error),
    async lead(held) {
      if (++tries < 3) throw new Error(`broken ${tries}`);
      await untilLost(held);
    },
  });
  await expect.poll(() => tries, { timeout: 60_000 }).toBe(3);
  await one.stop();
  expect(errors.map(String)).toEqual(["Error: broken 1", "Error: broken 2"]);
});

test("lease - a holder whose record was changed loses the lease and does not release the new record", async () => {
  const key = newKey();
  const one = candidate({ key, holder: "one", times: calm });
  const held = await one.leads();
  await kv.put(key, "thief");
  await untilLost(held);
  expect(String(held.reason)).toContain("another bridge has taken it");
  expect((await kv.get(key))?.string()).toBe("thief");
  // The thief renews nothing, so the holder takes the lease back.
  await one.leads(2);
});

test("lease - the holder stops while the bus is down, and leads again when it is back", async () => {
  const key = newKey();
  const one = candidate({ key, holder: "one" });
  const held = await one.leads();
  process.kill(local.nats.pid ?? 0, "SIGSTOP");
  try {
    await untilLost(held);
  } finally {
    process.kill(local.nats.pid ?? 0, "SIGCONT");
  }
  await one.leads(2);
});

test("lease - a holder keeps the lease when answers to its renewals are lost", async () => {
  const key = newKey();
  let lost = 0;
  const forgetful: KV = Object.assign(Object.create(kv) as KV, {
    async update(...args: Parameters<KV["update"]>) {
      const revision = await kv.update(...args);
      if (lost++ % 2 === 0) throw new Error("the answer was lost");
      return revision;
    },
  });
  const one = candidate({ key, holder: "one", times: calm, kv: forgetful });
  const held = await one.leads();
  await expect.poll(() => lost, { timeout: 60_000 }).toBeGreaterThan(10);
  expect(held.aborted).toBe(false);
});

test("lease - a candidate takes over its own old record without waiting", async () => {
  const key = newKey();
  let away = false;
  const cutOff: KV = Object.assign(Object.create(kv) as KV, {
    update: (...args: Parameters<KV["update"]>) =>
      away ? Promise.reject(new Error("the bus is away")) : kv.update(...args),
  });
  const never = { ...times, takeMillis: 1_000_000_000 };
  const one = candidate({ key, holder: "one", times: never, kv: cutOff });
  const held = await one.leads();
  away = true;
  await untilLost(held);
  away = false;
  await one.leads(2);
});

test.for([
  ["in flight", undefined],
  ["stored, but whose answer is lost", new Error("the connection broke")],
] as const)("lease - is released on a stop during a renewal that is %s", async ([, failure]) => {
  const key = newKey();
  const underWay = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  let renewals = 0;
  const slow: KV = Object.assign(Object.create(kv) as KV, {
    async update(...args: Parameters<KV["update"]>) {
      const revision = await kv.update(...args);
      if (++renewals > 1) return revision;
      underWay.resolve();
      await answered.promise;
      if (failure) throw failure;
      return revision;
    },
  });
  const one = candidate({ key, holder: "one", times: calm, kv: slow });
  await one.leads();
  await underWay.promise;
  const stopped = one.stop();
  // The answer arrives after everything that the stop has started.
  setImmediate(answered.resolve);
  await stopped;
  expect((await kv.get(key))?.string()).toBe("");
});

test("lease - one of two processes with the same name leads", async () => {
  const key = newKey();
  const twins = [1, 2].map(() => candidate({ key, holder: "twin", times: calm }));
  await Promise.race(twins.map((twin) => twin.leads()));
  const { revision = 0 } = (await kv.get(key)) ?? {};
  const renewals = async () => ((await kv.get(key))?.revision ?? 0) - revision;
  await expect.poll(renewals, { timeout: 60_000 }).toBeGreaterThan(manyRenewals);
  expect(twins.map(({ terms }) => terms.length).sort()).toEqual([0, 1]);
  expect(holderIn((await kv.get(key))?.string() ?? "")).toBe("twin");
});

/** Work under a shared lease that ends with the test. */
function tenant(lease: Lease, lead?: LeaseOptions["lead"]) {
  const stopping = new AbortController();
  const terms: AbortSignal[] = [];
  const errors: string[] = [];
  const done = lease.join({
    signal: stopping.signal,
    onError: (error) => void errors.push((error as Error).message),
    onStandby: () => undefined,
    async lead(held, assertHeld) {
      terms.push(held);
      await (lead ?? untilLost)(held, assertHeld);
    },
  });
  const stop = async () => {
    stopping.abort();
    await done;
  };
  onTestFinished(stop);
  return { terms, errors, stop };
}
const sharedBy = (key: string, holder: string) => sharedLease({ kv, key, holder, times: calm });
const recordOf = async (key: string) => (await kv.get(key))?.string();

test("shared lease - all members lead under one record, including later ones; the last one releases it", async () => {
  const key = newKey();
  const lease = sharedBy(key, "one");
  const first = tenant(lease);
  await expect.poll(() => first.terms.length, { timeout: 60_000 }).toBe(1);
  const record = await recordOf(key);
  const others = [1, 2, 3].map(() => tenant(lease));
  const other = candidate({ key, holder: "two", times: calm });
  const { revision = 0 } = (await kv.get(key)) ?? {};
  const renewals = async () => ((await kv.get(key))?.revision ?? 0) - revision;
  await expect.poll(renewals, { timeout: 60_000 }).toBeGreaterThan(manyRenewals);
  expect([first, ...others].map(({ terms }) => terms.length)).toEqual([1, 1, 1, 1]);
  expect([await recordOf(key), other.terms.length]).toEqual([record, 0]);

  await first.stop();
  expect(others.map(({ terms }) => terms.map((held) => held.aborted))).toEqual([[false], [false], [false]]);
  await Promise.all(others.map(({ stop }) => stop()));
  await other.leads();
});

test("shared lease - when it is lost, all members stop; when it is regained, all start again", async () => {
  const key = newKey();
  const lease = sharedBy(key, "one");
  const all = [1, 2, 3].map(() => tenant(lease));
  const terms = () => all.map(({ terms }) => terms.length);
  await expect.poll(terms, { timeout: 60_000 }).toEqual([1, 1, 1]);
  await kv.put(key, "thief");
  // The thief renews nothing.
  await expect.poll(terms, { timeout: 60_000 }).toEqual([2, 2, 2]);
  expect(all.map(({ terms }) => terms.map((held) => held.aborted))).toEqual(all.map(() => [true, false]));
});

test("shared lease - a lead that throws reports its error and restarts without affecting others", async () => {
  const key = newKey();
  const lease = sharedBy(key, "one");
  const steady = tenant(lease);
  let tries = 0;
  const broken = tenant(lease, async (held) => {
    if (++tries < 3) throw new Error(`broken ${tries}`);
    await untilLost(held);
  });
  await expect.poll(() => tries, { timeout: 60_000 }).toBe(3);
  expect(broken.errors).toEqual(["broken 1", "broken 2"]);
  expect(steady.terms.map((held) => held.aborted)).toEqual([false]);
});

test("shared lease - is held until all work under it has ended", async () => {
  const key = newKey();
  const lease = sharedBy(key, "one");
  const ending = Promise.withResolvers<void>();
  const slow = tenant(lease, async (held) => {
    await untilLost(held);
    await ending.promise;
  });
  const quick = tenant(lease);
  await expect
    .poll(() => [slow, quick].map(({ terms }) => terms.length), { timeout: 60_000 })
    .toEqual([1, 1]);
  const record = await recordOf(key);
  const stopped = Promise.all([slow.stop(), quick.stop()]);
  await quick.stop();
  expect(await recordOf(key)).toBe(record);
  ending.resolve();
  await stopped;
  expect(await recordOf(key)).toBe("");
});
