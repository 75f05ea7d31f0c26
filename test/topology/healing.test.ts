/** Deleted or altered streams and consumers are restored at runtime, without a restart. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import {
  activityStream,
  bridgeStream,
  objectByName,
  streams,
  timersStream,
  workStream,
} from "../../bus/subjects.ts";
import { type FunctionSubscription, functionConsumers } from "../../bus/topology.ts";
import { subscriptionOf } from "../../bus/worker/function.ts";
import hikawaFunction from "../../functions/zundoko/hikawa.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { wordsVariable } from "../../functions/zundoko/words.ts";
import {
  type LocalTestEnvironment,
  type Replica,
  startLocalTestEnvironment,
} from "../harness/environment.ts";
import { hikawa, isFinished } from "../harness/song.ts";

const options = { replicas: 1, ackWaitMillis: 10_000 };
const subscription: FunctionSubscription = subscriptionOf(hikawaFunction, "default");
const work = workStream("hikawa");
const own = [workStream, timersStream, activityStream].map((streamOf) => streamOf("hikawa"));
const everyStream = [...Object.values(streams), bridgeStream, ...own];
const everyConsumer = functionConsumers(subscription, options).map(
  ([stream, { durable_name: name = "" }]) => [stream, name] as const,
);

let environment: LocalTestEnvironment;
let bus: Bus;
let bridge: Replica;
let worker: Replica;
let songs = 0;
/** The bridge polls for changes that JetStream does not announce, at intervals of more than half a minute. */
const polling = { timeout: 120_000 };

beforeAll(async () => {
  environment = await startLocalTestEnvironment();
  bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  bridge = await environment.bridge("bridge-1");
  worker = await environment.worker("worker-1", ["hikawa"], {
    env: { [wordsVariable]: "Doko,Zun,Zun,Zun,Zun,Doko" },
  });
});
afterAll(async () => {
  await bus?.nc.close();
  await environment?.stop();
});

/** Creates a Hikawa and waits for the end of its song. */
async function sing(): Promise<string> {
  const name = `song-${++songs}`;
  await environment.client.create(Hikawa, hikawa(name, 0), { fieldManager: "test" });
  await environment.until(Hikawa, { name }, isFinished, polling.timeout);
  return name;
}

test.each(everyStream)("the stream %s is created again, and its content is recovered", async (stream) => {
  const name = await sing();
  await bus.jsm.streams.delete(stream);
  await sing();
  // Changes of older objects are reconciled, too.
  await environment.client.delete(Hikawa, { namespace: "default", name }, {});
  await environment.untilGone(Hikawa, { name });
  await expect.poll(() => bus.jsm.streams.info(stream).then(({ config }) => config.name)).toBe(stream);
});

test.each(everyConsumer)("the consumer on %s is created again", async (stream, consumer) => {
  await bus.jsm.consumers.delete(stream, consumer);
  await sing();
});

test("an altered stream is restored to its declaration", async () => {
  const { config } = await bus.jsm.streams.info(work);
  await bus.jsm.streams.update(work, { ...config, max_msgs_per_subject: -1, discard_new_per_subject: false });
  const settings = async () => {
    const { config } = await bus.jsm.streams.info(work);
    return [config.max_msgs_per_subject, config.discard_new_per_subject];
  };
  await expect.poll(settings).toEqual([1, true]);
});

test("purged objects are published again, even when others have changed since", async () => {
  const name = await sing();
  // The first Hikawa's last event is on the bus by the time the second song has ended.
  const other = await sing();
  await bus.jsm.streams.purge(streams.objects);
  const patch = { metadata: { labels: { changed: "behind-the-purge" } } };
  await environment.client.mergePatch(Hikawa, { namespace: "default", name: other }, patch, {
    fieldManager: "test",
  });
  const filter = { subjects_filter: objectByName("default", Hikawa, { namespace: "default", name }) };
  const found = async () => (await bus.jsm.streams.info(streams.objects, filter)).state.subjects;
  await expect.poll(found, polling).toBeDefined();
});

test("a stream with other limits is restored to its declaration", async () => {
  const before = await bus.jsm.streams.info(streams.objects);
  await bus.jsm.streams.update(streams.objects, { max_msgs: 1_000_000, max_age: 3600e9 });
  const settings = async () => {
    const { config } = await bus.jsm.streams.info(streams.objects);
    return [config.max_msgs, config.max_age];
  };
  await expect.poll(settings).toEqual([before.config.max_msgs, before.config.max_age]);
});

test("a paused consumer is resumed", async () => {
  const later = new Date(Date.now() + 3_600_000);
  for (const [stream, consumer] of everyConsumer) await bus.jsm.consumers.pause(stream, consumer, later);
  await sing();
});

test("an altered consumer is restored to its declaration", async () => {
  await bus.jsm.consumers.update(work, "default", { headers_only: true, max_deliver: 2 });
  const settings = async () => {
    const { config } = await bus.jsm.consumers.info(work, "default");
    return [config.headers_only ?? false, config.max_deliver];
  };
  await expect.poll(settings, polling).toEqual([false, -1]);
  await sing();
});

test("without a bridge a worker is not ready while a consumer is missing, and names it", async () => {
  await bridge.stop();
  await bus.jsm.consumers.delete(work, "default");
  await expect
    .poll(() => worker.probe("/readyz"))
    .toEqual({ status: 503, text: expect.stringContaining(`the consumer default of ${work}`) });
  await bridge.start();
  await expect.poll(async () => (await worker.probe("/readyz")).status).toBe(200);
  await sing();
});
