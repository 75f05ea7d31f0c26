/** What replicas tell each other of their writes, over a real server. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { connectBus } from "../../bus/connect.ts";
import { type Echoes, openEchoes } from "../../bus/worker/echoes.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

const scope = { fn: "singer", cluster: "default" };
const key = { namespace: "default", name: "song" };
const [uid, version, owned] = ["uid", "20", 60_000] as const;
const patience = { timeout: 30_000, interval: 5 };
let local: LocalBus;

beforeAll(async () => {
  local = await startLocalBus();
});
afterAll(() => local?.stop());

/** The echoes of a replica that the bus knows to be listening. */
async function replica(name: string): Promise<Echoes> {
  const { nc } = await connectBus({ url: local.natsUrl, name });
  const echoes = openEchoes(nc, scope);
  onTestFinished(() => nc.close());
  await nc.flush();
  return echoes;
}

const replicas = () => Promise.all([replica("writer"), replica("other")]);
const untilTold = (echoes: Echoes, told = version) =>
  expect.poll(() => echoes.written(key, uid), patience).toBe(told);

test("all replicas take the event of a write for an echo, and that of a later version for news", async () => {
  const [writer, other] = await replicas();
  writer.announce(key, uid, version, owned);
  await untilTold(other);
  for (const echoes of [writer, other])
    expect(["19", version, "21"].map((one) => echoes.has(key, uid, one))).toEqual([true, true, false]);
});

test("a version that is announced as news is to be read, and is nobody's echo", async () => {
  const [writer, other] = await replicas();
  writer.announce(key, uid, version, 0);
  await untilTold(other);
  for (const echoes of [writer, other]) {
    expect(echoes.written(key, uid)).toBe(version);
    expect(echoes.has(key, uid, version)).toBe(false);
  }
});

test("a replica that was paused goes on believing what it has said itself, and nobody else", async () => {
  const [writer, other] = await replicas();
  writer.announce(key, uid, version, owned);
  await untilTold(other);
  // What it says comes back to it as well, before this does.
  other.announce(key, "other", "1", owned);
  await expect.poll(() => writer.has(key, "other", "1"), patience).toBe(true);
  for (const echoes of [writer, other]) echoes.forget("paused");
  expect([writer, other].map((echoes) => echoes.has(key, uid, version))).toEqual([true, false]);
});

test("a replica that was cut off believes nothing", async () => {
  const [writer] = await replicas();
  writer.announce(key, uid, version, owned);
  writer.forget("disconnected");
  expect(writer.has(key, uid, version)).toBe(false);
});

test("what a reconcile has written is nobody's echo any more once it is taken back", async () => {
  const [writer, other] = await replicas();
  writer.announce(key, uid, version, owned);
  await untilTold(other);
  writer.retract(key);
  await expect.poll(() => other.has(key, uid, version), patience).toBe(false);
  expect(writer.has(key, uid, version)).toBe(false);
});
