/** Consumers that JetStream cannot change in place are created again at the same position. */
import { AckPolicy, DeliverPolicy, type JsMsg, RetentionPolicy } from "@nats-io/jetstream";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { ensureConsumer } from "../../bus/topology/ensure.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";
import { events, openBench, reader, type TopologyBench, version } from "./bench.ts";

let local: LocalBus;
let bench: TopologyBench;
beforeAll(async () => {
  local = await startLocalBus();
  bench = await openBench(local);
});
afterEach(() => void vi.restoreAllMocks());
afterAll(() => local?.stop());

const migrating = (to: number, stream: string) =>
  version(to, 0, [{ to, consumersOf: new RegExp(`^${stream}$`) }]);
/** A change that the server rejects. */
const changed = { max_waiting: 7 };

async function publish(stream: string, ...texts: string[]): Promise<void> {
  for (const text of texts) await local.bus.js.publish(`${stream}.a`, text);
}

async function next(stream: string): Promise<JsMsg | null> {
  const consumer = await local.bus.js.consumers.get(stream, "reader");
  return consumer.next({ expires: 60_000 });
}

test("it continues after the last acknowledged message, although it is declared to start with new ones", async () => {
  const from = { deliver_policy: DeliverPolicy.New };
  await bench.start(version(1), events("moved"), reader("moved", from));
  await publish("moved", "1", "2", "3");
  await (await next("moved"))?.ackAck();
  // In progress when the consumer is deleted.
  await next("moved");
  await bench.start(migrating(2, "moved"), events("moved"), reader("moved", { ...from, ...changed }));
  await publish("moved", "4");
  const heard: string[] = [];
  for (const _ of [2, 3, 4]) {
    const message = await next("moved");
    heard.push(message?.string() ?? "nothing");
    message?.ack();
  }
  expect(heard).toEqual(["2", "3", "4"]);
  const { config } = await local.bus.jsm.consumers.info("moved", "reader");
  expect(config).toMatchObject({ ...changed, metadata: { "denrei.dev/topology": "2" } });
  expect(JSON.stringify((await local.bus.jsm.streams.info("moved")).config.metadata)).not.toContain(
    "position",
  );
  // Neither the same version nor the previous one writes anything.
  await bench.writes();
  await bench.start(migrating(2, "moved"), events("moved"), reader("moved", { ...from, ...changed }));
  await bench.start(version(1), events("moved"), reader("moved", from));
  expect(await bench.writes()).toBe(0);
});

test("a program that dies during the migration leaves the position to the next one", async () => {
  const from = { deliver_policy: DeliverPolicy.New };
  const { jsm } = local.bus;
  await bench.start(version(1), events("died"), reader("died", from));
  await publish("died", "1", "2");
  await (await next("died"))?.ackAck();
  const dying = {
    ...jsm,
    streams: jsm.streams,
    consumers: Object.assign(Object.create(jsm.consumers), {
      add: () => Promise.reject(new Error("killed")),
    }),
  };
  const plan = migrating(2, "died");
  const wanted = reader("died", { ...from, ...changed });
  await expect(ensureConsumer({ jsm: dying, user: "a test", plan }, "died", wanted)).rejects.toThrow(
    "killed",
  );
  await publish("died", "3");
  await bench.start(plan, events("died"), wanted);
  expect((await next("died"))?.string()).toBe("2");
});

test("a message of a work queue in progress is not redelivered before its owner has given it up", async () => {
  const queue = { retention: RetentionPolicy.Workqueue };
  const wait = { ack_wait: 1.5e9 };
  await bench.start(version(1), events("queue", queue), reader("queue", wait));
  await publish("queue", "1", "2");
  const inProgress = await next("queue");
  const begun = Date.now();
  await bench.start(migrating(2, "queue"), events("queue", queue), reader("queue", { ...wait, ...changed }));
  const { config } = await local.bus.jsm.consumers.info("queue", "reader");
  // Compared as times, because the pause may be over by now.
  expect(Date.parse(config.pause_until ?? "")).toBeGreaterThanOrEqual(begun + wait.ack_wait / 1e6);
  expect(config).toMatchObject({ ...changed, deliver_policy: DeliverPolicy.All });
  // The former owner's acknowledgment has no effect.
  expect(await inProgress?.ackAck({ timeout: 500 }).catch(() => false)).toBe(false);
  expect((await next("queue"))?.string()).toBe("1");
  expect((await next("queue"))?.string()).toBe("2");
});

test.each([
  ["right", 0],
  ["ten minutes behind", -600_000],
  ["ten minutes ahead", 600_000],
])("a deleted consumer of a work queue is created with a pause when the clock is %s", async (name, skew) => {
  const trueNow = Date.now.bind(Date);
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + skew);
  const stream = `lost-${name.replaceAll(" ", "-")}`;
  const queue = events(stream, { retention: RetentionPolicy.Workqueue });
  const wait = { ack_wait: 120e9 };
  await bench.start(version(1), queue, reader(stream, wait));
  expect((await local.bus.jsm.consumers.info(stream, "reader")).paused ?? false).toBe(false);
  await publish(stream, "1");
  await local.bus.jsm.consumers.delete(stream, "reader");
  await bench.start(version(1), queue, reader(stream, wait));
  const { paused, pause_remaining } = await local.bus.jsm.consumers.info(stream, "reader");
  expect(paused).toBe(true);
  expect(pause_remaining).toBeLessThanOrEqual(wait.ack_wait);
});

test("the acknowledgment policy is changed", async () => {
  // Long enough that nothing is redelivered.
  const wait = { ack_wait: 60e9 };
  await bench.start(version(1), events("policy"), reader("policy", { ...wait, ack_policy: AckPolicy.All }));
  await publish("policy", "1", "2", "3");
  await next("policy");
  await (await next("policy"))?.ackAck();
  await bench.start(migrating(2, "policy"), events("policy"), reader("policy", wait));
  expect((await next("policy"))?.string()).toBe("3");
});
