/** Streams and consumers of removed functions, and `denrei prune`. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { activityStream, consumers, streams, timersStream, work, workStream } from "../../bus/subjects.ts";
import { type Leftover, leftovers } from "../../bus/topology/leftovers.ts";
import { ensureTopology, type FunctionSubscription } from "../../bus/topology.ts";
import { subscriptionOf } from "../../bus/worker/function.ts";
import hikawa from "../../functions/zundoko/hikawa.ts";
import { run } from "../cli/program.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

const cluster = "default";
const options = { replicas: 1, ackWaitMillis: 5000 };
const present = subscriptionOf(hikawa, cluster);
const gone: FunctionSubscription = {
  scope: { fn: "gone", cluster },
  kinds: [{ group: "g", kind: "Thing" }],
  webhooks: [{ provider: "github", event: "push" }],
};
/** The subscription of the previous version. */
const former: FunctionSubscription = { ...present, kinds: present.kinds.slice(0, 1) };
const shared: FunctionSubscription = { scope: { fn: "shared", cluster: "elsewhere" }, kinds: gone.kinds };

let local: LocalBus;
beforeAll(async () => {
  local = await startLocalBus();
  await ensureTopology(local.bus, options, [present, former, gone, shared]);
});
afterAll(() => local?.stop());

const find = (more: { force?: boolean; latelyMillis?: number } = {}) =>
  leftovers(local.bus.jsm, { subscriptions: [present], cluster, latelyMillis: 0, force: false, ...more });
const text = ({ stream, consumer, kept }: Leftover) =>
  [stream, consumer ?? "itself", kept ?? "may go"].join(", ");

const router = (subscription: FunctionSubscription) => `OBJECTS, ${consumers.router(subscription)}`;
const everything = (kept: string) => [
  `${router(former)}, ${kept}`,
  `${router(gone)}, ${kept}`,
  `WEBHOOKS, gone_default, ${kept}`,
  `ACTIVITY_gone, itself, ${kept}`,
  `TIMERS_gone, default, ${kept}`,
  `TIMERS_gone, itself, ${kept}`,
  `WORK_gone, default, ${kept}`,
  `WORK_gone, itself, ${kept}`,
];
const ofStrangers = ["ACTIVITY_shared", "TIMERS_shared", "WORK_shared"].map(
  (stream) => `${stream}, itself, used by another cluster`,
);

test("streams and consumers of current functions and of other clusters are not leftovers", async () => {
  expect((await find()).map(text).sort()).toEqual([...everything("may go"), ...ofStrangers].sort());
});

test("recently used streams and consumers are kept", async () => {
  const found = await find({ latelyMillis: 3_600_000 });
  expect(found.map(text).sort()).toEqual([...everything("used recently"), ...ofStrangers].sort());
});

test("a consumer with a waiting client is kept, even with force", async () => {
  const consumer = await local.bus.js.consumers.get(streams.objects, consumers.router(former));
  const waiting = await consumer.consume({ callback: () => undefined });
  const kept = async () =>
    (await find({ force: true })).find(({ consumer: name }) => name === consumers.router(former))?.kept;
  await expect.poll(kept, { timeout: 30_000 }).toBe("in use");
  await waiting.close();
  await expect.poll(kept, { timeout: 30_000 }).toBeUndefined();
});

test("streams with requests are not deleted without force", async () => {
  await local.bus.js.publish(work.ticket(gone.scope, { namespace: "n", name: "x" }), "{}");
  const kept = (found: Leftover[]) =>
    found.filter(({ stream }) => stream === workStream("gone")).map(({ kept, messages }) => [kept, messages]);
  expect(kept(await find())).toEqual([
    ["not empty", 1],
    ["not empty", 1],
  ]);
  expect(kept(await find({ force: true }))).toEqual([
    [undefined, 1],
    [undefined, 1],
  ]);
});

test("denrei prune prints what it would delete, and deletes it", async () => {
  const ask = (...args: string[]) => run(["prune", ...args], { env: { NATS_URL: local.natsUrl } });
  const names = async () => (await local.bus.jsm.streams.names().next()).sort();
  const before = await names();
  const lately = await ask("--dry-run");
  expect(lately).toMatchObject({ code: 0, stderr: "" });
  expect(lately.stdout).toMatch(/WORK_gone +default .* 1 +kept: not empty/);
  expect(lately.stdout).toMatch(/TIMERS_gone +\(the stream\) .* 0 +kept: used recently/);
  const dry = await ask("--dry-run", "--force");
  expect(dry.stdout).toMatch(/WORK_gone +\(the stream\) .* would be removed/);
  expect(await names()).toEqual(before);
  const done = await ask("--force");
  expect(done.stdout).toMatch(/WORK_gone +\(the stream\) .* removed/);
  expect(await names()).toEqual(
    before.filter(
      (name) => ![workStream("gone"), timersStream("gone"), activityStream("gone")].includes(name),
    ),
  );
  expect((await find()).map(text).sort()).toEqual(ofStrangers.sort());
  // Everything in use still exists.
  await ensureTopology(local.bus, options, [present, shared]);
  expect((await ask()).stdout).not.toMatch(/hikawa|removed/);
}, 240_000);
