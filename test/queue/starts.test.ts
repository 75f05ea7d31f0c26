/** The count of workers that died over one request. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bus } from "../../bus/nats/connect.ts";
import type { Inbox } from "../../bus/nats/inbox.ts";
import { type CrashRecords, openCrashRecords } from "../../bus/queue/crashrecords.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

let local: LocalBus;
let bus: Bus;
let starts: CrashRecords;
beforeAll(async () => {
  local = await startLocalBus();
  bus = local.bus;
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 3000 });
  starts = openCrashRecords(bus, { fn: "crashing", cluster: "local" });
});
afterAll(() => local?.stop());

const at = (name: string) => ({ namespace: "default", name });
const crashesOf = async (name: string) => (await starts.add(at(name))).before.all;

test("a worker that lost a request before it was done does not forget those who died over it before", async () => {
  await starts.add(at("broken-off"));
  const second = await starts.add(at("broken-off"));
  await starts.remove(at("broken-off"), second);
  expect(await crashesOf("broken-off")).toBe(1);
});

test("a worker that tells late that it has survived takes back its own start and no other", async () => {
  const first = await starts.add(at("late"));
  await starts.add(at("late"));
  await starts.remove(at("late"), first);
  expect(await crashesOf("late")).toBe(1);
});

test("starts that are noted and taken back at once are counted right", async () => {
  const noted = await Promise.all(Array.from({ length: 8 }, () => starts.add(at("at-once"))));
  expect(noted.map(({ before }) => before.all).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await Promise.all(noted.slice(0, 6).map((start) => starts.remove(at("at-once"), start)));
  expect(await crashesOf("at-once")).toBe(2);
});

test("a start whose first answer was lost is noted once", async () => {
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

test("one that was reconciled begins anew", async () => {
  await starts.add(at("mended"));
  await starts.add(at("mended"));
  await starts.clear(at("mended"));
  expect(await crashesOf("mended")).toBe(0);
});

test("a start tells which version those before it had read, the newest of them", async () => {
  for (const resourceVersion of ["9", "10", "8"])
    await starts.add(at("read"), { uid: "uid", resourceVersion });
  await starts.add(at("read"));
  expect((await starts.add(at("read"))).lastRead).toEqual({ uid: "uid", resourceVersion: "10" });
  expect((await starts.add(at("never-read"))).lastRead).toBeUndefined();
});

test("a start that wrote something before its process died is told from one that did not", async () => {
  const first = await starts.add(at("writes"));
  await starts.add(at("writes"));
  await starts.wrote(at("writes"), first);
  await starts.add(at("writes"), undefined, true);
  expect((await starts.add(at("writes"))).before).toEqual({ all: 3, barren: 1 });
});

test("a write that is told when its start was taken back already blames nobody", async () => {
  const first = await starts.add(at("too-late"));
  await starts.remove(at("too-late"), first);
  await starts.wrote(at("too-late"), first);
  expect((await starts.add(at("too-late"))).before).toEqual({ all: 0, barren: 0 });
});
