/** Crash records: how many workers crashed over one request. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bus } from "../../bus/nats/connect.ts";
import type { Inbox } from "../../bus/nats/inbox.ts";
import { type CrashRecords, openCrashRecords } from "../../bus/queue/crashrecords.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

let local: LocalBus;
let bus: Bus;
let records: CrashRecords;
beforeAll(async () => {
  local = await startLocalBus();
  bus = local.bus;
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 3000 });
  records = openCrashRecords(bus, { fn: "crashing", cluster: "local" });
});
afterAll(() => local?.stop());

const at = (name: string) => ({ namespace: "default", name });
const crashesOf = async (name: string) => (await records.add(at(name))).before.all;

test("a worker that loses its ticket removes its own record and keeps the earlier ones", async () => {
  await records.add(at("broken-off"));
  const second = await records.add(at("broken-off"));
  await records.remove(at("broken-off"), second);
  expect(await crashesOf("broken-off")).toBe(1);
});

test("a worker that reports late that it survived removes only its own record", async () => {
  const first = await records.add(at("late"));
  await records.add(at("late"));
  await records.remove(at("late"), first);
  expect(await crashesOf("late")).toBe(1);
});

test("counts records that are added and removed concurrently", async () => {
  const added = await Promise.all(Array.from({ length: 8 }, () => records.add(at("at-once"))));
  expect(added.map(({ before }) => before.all).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await Promise.all(added.slice(0, 6).map((start) => records.remove(at("at-once"), start)));
  expect(await crashesOf("at-once")).toBe(2);
});

test("adds one record if the first answer was lost", async () => {
  let lost = 0;
  const inbox: Inbox = {
    ...bus.inbox,
    async request(subject, data, options) {
      const answer = await bus.inbox.request(subject, data, options);
      if (subject.startsWith("crashes.") && lost++ === 0) throw new Error("the answer was lost");
      return answer;
    },
  };
  const forgetful = openCrashRecords({ ...bus, inbox }, { fn: "crashing", cluster: "local" });
  expect((await forgetful.add(at("answered-late"))).before.all).toBe(0);
  expect(lost).toBeGreaterThan(1);
  expect(await crashesOf("answered-late")).toBe(1);
});

test("clears all records after a reconcile", async () => {
  await records.add(at("mended"));
  await records.add(at("mended"));
  await records.clear(at("mended"));
  expect(await crashesOf("mended")).toBe(0);
});

test("returns the newest version that earlier records have read", async () => {
  for (const resourceVersion of ["9", "10", "8"])
    await records.add(at("read"), { uid: "uid", resourceVersion });
  await records.add(at("read"));
  expect((await records.add(at("read"))).lastRead).toEqual({ uid: "uid", resourceVersion: "10" });
  expect((await records.add(at("never-read"))).lastRead).toBeUndefined();
});

test("counts records that wrote nothing separately", async () => {
  const first = await records.add(at("writes"));
  await records.add(at("writes"));
  await records.wrote(at("writes"), first);
  await records.add(at("writes"), undefined, true);
  expect((await records.add(at("writes"))).before).toEqual({ all: 3, withoutWrite: 1 });
});

test("ignores a write whose record was already removed", async () => {
  const first = await records.add(at("too-late"));
  await records.remove(at("too-late"), first);
  await records.wrote(at("too-late"), first);
  expect((await records.add(at("too-late"))).before).toEqual({ all: 0, withoutWrite: 0 });
});
