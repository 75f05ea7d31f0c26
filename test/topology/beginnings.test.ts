/** A consumer of new messages that is deleted and created again receives the messages published in between. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { consumers, streams } from "../../bus/subjects.ts";
import { ensureTopology, type FunctionSubscription, functionConsumers } from "../../bus/topology.ts";
import { subscriptionOf } from "../../bus/worker/function.ts";
import stickers from "../fixtures/functions/stickers.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

const options = { replicas: 1, ackWaitMillis: 10_000 };
const subscription: FunctionSubscription = subscriptionOf(stickers, "default");
const consumer = consumers.webhooks(subscription.scope);
let local: LocalBus;
beforeEach(async () => {
  local = await startLocalBus();
});
afterEach(() => local?.stop());

const ensure = () => ensureTopology(local.bus, options, [subscription]);
const publish = (text: string) => local.bus.js.publish("webhooks.github.push.acme.web", text);

async function next(): Promise<string | undefined> {
  const found = await local.bus.js.consumers.get(streams.webhooks, consumer);
  const message = await found.next({ expires: 60_000 });
  await message?.ackAck();
  return message?.string();
}

test("a new function does not receive earlier messages", async () => {
  await ensureTopology(local.bus, options);
  await publish("before");
  await ensure();
  await publish("after");
  expect(await next()).toBe("after");
});

test("pending messages, and those published before the consumer is created again, are delivered", async () => {
  await ensure();
  await publish("waits");
  await local.bus.jsm.consumers.delete(streams.webhooks, consumer);
  await publish("comes meanwhile");
  await ensure();
  expect([await next(), await next()]).toEqual(["waits", "comes meanwhile"]);
});

test("a consumer of an earlier version continues after its last acknowledged message", async () => {
  await ensureTopology(local.bus, options);
  const [, config] =
    functionConsumers(subscription, options).find(([stream]) => stream === streams.webhooks) ?? [];
  await local.bus.jsm.consumers.add(streams.webhooks, config ?? {});
  await publish("acknowledged");
  expect(await next()).toBe("acknowledged");
  await publish("waits");
  await ensure();
  await local.bus.jsm.consumers.delete(streams.webhooks, consumer);
  await ensure();
  expect(await next()).toBe("waits");
});

test("consumers of a recreated stream start with its first message", async () => {
  await ensure();
  await local.bus.jsm.streams.delete(streams.webhooks);
  const { jsm } = local.bus;
  const dying = Object.assign(Object.create(jsm), {
    streams: jsm.streams,
    consumers: Object.assign(Object.create(jsm.consumers), {
      add: () => Promise.reject(new Error("killed")),
    }),
  });
  await expect(ensureTopology({ ...local.bus, jsm: dying }, options, [subscription])).rejects.toThrow(
    "killed",
  );
  await publish("first");
  await ensure();
  expect(await next()).toBe("first");
});
