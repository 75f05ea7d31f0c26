/** The count of workers that died over one request. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bus, connectBus } from "../../bus/connect.ts";
import type { Inbox } from "../../bus/inbox.ts";
import { type DeadLetters, deadLetters } from "../../bus/queue/deadletters.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { type LocalNats, startLocalNats } from "../../deploy/local/index.ts";

let local: LocalNats;
let bus: Bus;
let letters: DeadLetters;
beforeAll(async () => {
  local = await startLocalNats();
  bus = await connectBus({ url: local.natsUrl, name: "test" });
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 3000 });
  letters = deadLetters(bus, { fn: "crashing", cluster: "local" });
});
afterAll(async () => {
  await bus?.nc.close();
  await local?.stop();
});

const at = (name: string) => ({ namespace: "default", name });
const crashesOf = async (name: string) => (await letters.noteStart(at(name))).before;

test("a worker that lost a request before it was done does not forget those who died over it before", async () => {
  await letters.noteStart(at("broken-off"));
  const second = await letters.noteStart(at("broken-off"));
  await letters.takeBackStart(at("broken-off"), second);
  expect(await crashesOf("broken-off")).toBe(1);
});

test("a worker that tells late that it has survived takes back its own start and no other", async () => {
  const first = await letters.noteStart(at("late"));
  await letters.noteStart(at("late"));
  await letters.takeBackStart(at("late"), first);
  expect(await crashesOf("late")).toBe(1);
});

test("starts that are noted and taken back at once are counted right", async () => {
  const starts = await Promise.all(Array.from({ length: 8 }, () => letters.noteStart(at("at-once"))));
  expect(starts.map(({ before }) => before).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await Promise.all(starts.slice(0, 6).map((start) => letters.takeBackStart(at("at-once"), start)));
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
  const forgetful = deadLetters({ ...bus, inbox }, { fn: "crashing", cluster: "local" });
  expect((await forgetful.noteStart(at("answered-late"))).before).toBe(0);
  expect(lost).toBeGreaterThan(1);
  expect(await crashesOf("answered-late")).toBe(1);
});

test("one that was reconciled begins anew", async () => {
  await letters.noteStart(at("mended"));
  await letters.noteStart(at("mended"));
  await letters.forgetStarts(at("mended"));
  expect(await crashesOf("mended")).toBe(0);
});
