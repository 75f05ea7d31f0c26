/** KEDA's triggers wake a function without workers for all of its work, and only for that. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { consumers, streams, timersStream, work } from "../../bus/subjects.ts";
import { subscriptionOf } from "../../bus/worker/function.ts";
import { functions } from "../../functions/index.ts";
import hikawaFunction from "../../functions/zundoko/hikawa.ts";
import hikawas from "../../functions/zundoko/hikawa.ts";
import { Hikawa, Zundoko } from "../../functions/zundoko/kinds.ts";
import {
  type LocalTestEnvironment,
  type Replica,
  startLocalTestEnvironment,
} from "../harness/environment.ts";
import { untilQuiet } from "../harness/quiet.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";
import type { Manifest } from "./manifests.ts";
import { siteWith } from "./overlays.ts";
import { activeTriggers } from "./triggers.ts";

const scope = { fn: "hikawa", cluster: "default" };
const events = `${streams.objects}/${consumers.router(subscriptionOf(hikawaFunction, scope.cluster))}`;
const timers = `${timersStream(scope.fn)}/${consumers.relay(scope)}`;
const hour = 3_600_000;
const polling = { timeout: 60_000, interval: 100 };
let objects: Manifest[];
let environment: LocalTestEnvironment;
let bus: Bus;

beforeAll(async () => {
  objects = await siteWith("keda");
  environment = await startLocalTestEnvironment();
  await environment.bridge("bridge-1");
  bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  // Without kubectl, kustomize may have to be built first.
}, 900_000);
afterAll(async () => {
  await bus?.nc.close();
  await environment?.stop();
});

const active = (fn = "hikawa") =>
  activeTriggers(objects, fn, { urlOf: () => environment.platform.nats.monitorUrl });
const create = (name: string, interval: number) =>
  environment.client.create(Hikawa, hikawa(name, interval), { fieldManager: "test" });
const worker = (name: string): Promise<Replica> =>
  environment.worker(name, ["hikawa"], { env: { DENREI_ZUNDOKO_WORDS: "Doko,Zun,Zun,Zun,Zun,Doko" } });
/** The number of the function's delayed requests. */
async function delayed(): Promise<number> {
  const { state } = await bus.jsm.streams.info(timersStream(scope.fn), {
    subjects_filter: work.timers(scope),
  });
  return Object.keys(state.subjects ?? {}).length;
}

/** The worker has only distant timers left, and no trigger is active. */
async function sleepsAfter(last: Replica, farOff: number): Promise<void> {
  await expect.poll(delayed, polling).toBe(farOff);
  await untilQuiet({ bus, client: environment.client, functions: [hikawas] });
  await expect.poll(() => active(), polling).toEqual([]);
  await last.stop();
  expect(await active()).toEqual([]);
}

const firstWord = (of: string) => environment.until(Zundoko, { name: `${of}-zundoko-001` }, () => true);

test("without objects no trigger is active", async () => {
  expect(await active()).toEqual([]);
});

test("a new object wakes the function until its worker has done the work", async () => {
  await create("at-once", 0);
  await expect.poll(() => active(), polling).toEqual([events]);
  const first = await worker("worker-1");
  await environment.until(Hikawa, { name: "at-once" }, isFinished);
  await sleepsAfter(first, 0);
});

test("a timer wakes the function only when it is due", async () => {
  await create("in-an-hour", hour);
  const second = await worker("worker-2");
  await firstWord("in-an-hour");
  await expect.poll(() => active(), polling).toEqual([]);
  expect(await delayed()).toBe(1);
  await create("soon", 1500);
  await firstWord("soon");
  await second.stop();
  // The next word falls due, and no worker is there to say it.
  await expect.poll(() => active(), polling).toContain(timers);
  const third = await worker("worker-3");
  await environment.until(Hikawa, { name: "soon" }, isFinished);
  await expectFinishedSongs(environment, ["at-once", "soon"]);
  await sleepsAfter(third, 1);
});

test("a webhook wakes only the functions that subscribe to it", async () => {
  const gateway = await environment.gateway("gateway-1");
  expect(await post(gateway.hookUrl(), hookOf("push", push("kaitoy/zundoko", "main")))).toBeLessThan(300);
  const woken = async () => {
    const all = await Promise.all(functions.map(async ({ name }) => ({ name, by: await active(name) })));
    return all.filter(({ by }) => by.some((one) => one.startsWith(streams.webhooks))).map(({ name }) => name);
  };
  const meant = functions
    .filter(({ webhooks }) => webhooks.some(({ event }) => event === "push"))
    .map(({ name }) => name);
  expect(meant.length).toBeGreaterThan(0);
  await expect.poll(woken, polling).toEqual(meant);
});
