/** The count of workers that died over one request. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bus, connectBus } from "../../bus/connect.ts";
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
const crashesOf = async (name: string) => (await letters.countStart(at(name))).before;

test("a worker that lost a request before it was done does not forget those who died over it before", async () => {
  await letters.countStart(at("broken-off"));
  const second = await letters.countStart(at("broken-off"));
  await letters.survived(at("broken-off"), second, second.before);
  expect(await crashesOf("broken-off")).toBe(1);
});

test("a worker that tells late that it has survived does not take away a start that was counted since", async () => {
  const first = await letters.countStart(at("late"));
  await letters.countStart(at("late"));
  await letters.survived(at("late"), first, 0);
  expect(await crashesOf("late")).toBe(2);
});

test("one that was reconciled begins anew", async () => {
  await letters.countStart(at("mended"));
  const second = await letters.countStart(at("mended"));
  await letters.survived(at("mended"), second, 0);
  expect(await crashesOf("mended")).toBe(0);
});
