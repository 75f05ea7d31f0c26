/** A function without a worker is woken by whatever comes for it, as KEDA would look at it, and by nothing else. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { consumers, streams, timersStream } from "../../bus/subjects.ts";
import { functions } from "../../functions/index.ts";
import { Hikawa, Zundoko } from "../../functions/zundoko/kinds.ts";
import { run } from "../cli/program.ts";
import { type LocalKit, type Replica, startLocalKit } from "../harness/kit.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";
import type { Manifest } from "./manifests.ts";
import { siteWith } from "./overlays.ts";
import { activeTriggers } from "./triggers.ts";

const scope = { fn: "hikawa", cluster: "default" };
const events = `${streams.objects}/${consumers.router(scope)}`;
const timers = `${timersStream(scope.fn)}/${consumers.relay(scope)}`;
const hour = 3_600_000;
const patience = { timeout: 60_000, interval: 100 };
let objects: Manifest[];
let kit: LocalKit;

beforeAll(async () => {
  objects = await siteWith("keda");
  kit = await startLocalKit();
  await kit.bridge("bridge-1");
  // Where there is no kubectl, kustomize may have to be built first.
}, 900_000);
afterAll(() => kit?.stop());

const active = (fn = "hikawa") => activeTriggers(objects, fn, { urlOf: () => kit.platform.nats.monitorUrl });
const create = (name: string, interval: number) =>
  kit.client.create(Hikawa, hikawa(name, interval), { fieldManager: "test" });
const worker = (name: string): Promise<Replica> =>
  kit.worker(name, ["hikawa"], { env: { DENREI_ZUNDOKO_WORDS: "Doko,Zun,Zun,Zun,Zun,Doko" } });
/** Requests of the function that wait for their time. */
async function delayed(): Promise<number> {
  const { code, stdout } = await run(["status", "--json"], { env: { NATS_URL: kit.platform.natsUrl } });
  expect(code).toBe(0);
  return JSON.parse(stdout).functions.find((queue: { function: string }) => queue.function === "hikawa")
    .delayed;
}
const firstWord = (of: string) => kit.until(Zundoko, { name: `${of}-zundoko-001` }, () => true);

test("without objects it sleeps", async () => {
  expect(await active()).toEqual([]);
});

test("an object is created: its events wake the function, until its worker has done the work", async () => {
  await create("at-once", 0);
  await expect.poll(() => active(), patience).toEqual([events]);
  const first = await worker("worker-1");
  await kit.until(Hikawa, { name: "at-once" }, isFinished);
  await expect.poll(() => active(), patience).toEqual([]);
  await first.stop();
  expect(await active()).toEqual([]);
});

test("what is to be done later wakes nobody before it is due", async () => {
  await create("in-an-hour", hour);
  const second = await worker("worker-2");
  await firstWord("in-an-hour");
  await expect.poll(() => active(), patience).toEqual([]);
  expect(await delayed()).toBe(1);
  await create("soon", 4000);
  await firstWord("soon");
  await second.stop();
  // The next word is due by and by, and nobody is there to say it.
  await expect.poll(() => active(), patience).toContain(timers);
  const third = await worker("worker-3");
  await kit.until(Hikawa, { name: "soon" }, isFinished);
  await expectFinishedSongs(kit, ["at-once", "soon"]);
  await third.stop();
  await expect.poll(() => active(), patience).toEqual([]);
});

test("a webhook wakes the functions that it is for, and no others", async () => {
  const gateway = await kit.gateway("gateway-1");
  expect(await post(gateway.hookUrl(), hookOf("push", push("kaitoy/zundoko", "main")))).toBeLessThan(300);
  const woken = async () => {
    const all = await Promise.all(functions.map(async ({ name }) => ({ name, by: await active(name) })));
    return all.filter(({ by }) => by.some((one) => one.startsWith(streams.webhooks))).map(({ name }) => name);
  };
  const meant = functions.filter(({ webhooks }) => "push" in webhooks).map(({ name }) => name);
  expect(meant.length).toBeGreaterThan(0);
  await expect.poll(woken, patience).toEqual(meant);
});
