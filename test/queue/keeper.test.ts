/** The thread that keeps tickets while a debugger has stopped a worker, when it dies itself. */
import type { Worker } from "node:worker_threads";
import { AckPolicy } from "@nats-io/jetstream";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Delivery, deliveryOf } from "../../bus/nats/delivery.ts";
import { startKeeper } from "../../bus/worker/keeper.ts";
import { keepOwnership, type Ticket } from "../../bus/worker/ownership.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

/** Longer than any pause of this machine. */
const ackWaitMillis = 60_000;
const patience = { timeout: 30_000, interval: 20 };
let local: LocalBus;
beforeAll(async () => {
  local = await startLocalBus();
  const { jsm } = local.bus;
  await jsm.streams.add({ name: "KEPT", subjects: ["kept"] });
  const ack_wait = ackWaitMillis * 1_000_000;
  await jsm.consumers.add("KEPT", { durable_name: "keeps", ack_policy: AckPolicy.Explicit, ack_wait });
});
afterAll(() => local?.stop());

/** A new message, as it is delivered. */
async function deliver(): Promise<Delivery> {
  const { js, nc, inbox } = local.bus;
  await js.publish("kept");
  const reply = inbox.create();
  const arrived = nc.subscribe(reply, { max: 1 });
  nc.publish("$JS.API.CONSUMER.MSG.NEXT.KEPT.keeps", JSON.stringify({ batch: 1 }), { reply });
  for await (const message of arrived) return deliveryOf(local.bus, message);
  throw new Error("expected a message, but the connection was closed");
}

/** Breaks the connection, and resolves when there is another one: a request before that would be thrown away. */
async function reconnect(): Promise<void> {
  const { nc } = local.bus;
  const statuses = nc.status();
  await nc.reconnect();
  for await (const { type } of statuses) if (type === "reconnect") return;
}

test("without it tickets are lost with the worker's own connection, as ever, and it is told that it is gone", async () => {
  const { nc } = local.bus;
  let thread: Worker | undefined;
  process.once("worker", (one) => {
    thread = one;
  });
  const ends: Error[] = [];
  const address = { url: local.natsUrl, name: "test" };
  const keeper = await startKeeper(address, ackWaitMillis, (error) => ends.push(error));
  const doubts: string[] = [];
  const ownership = keepOwnership(nc, ackWaitMillis, keeper);
  onTestFinished(() => ownership.stop());
  ownership.onStale((doubt) => doubts.push(doubt));

  const broken = () => doubts.filter((doubt) => doubt === "disconnected").length;
  async function take(): Promise<Ticket> {
    for (;;) {
      // On a machine that was busy elsewhere it may be an old delivery, which nobody takes.
      const ticket = ownership.take(await deliver());
      if (ticket !== undefined) return ticket;
    }
  }

  // While there is one, its connection is what counts.
  const first = await take();
  await reconnect();
  await expect.poll(() => doubts, patience).toContain("paused");
  first.assertOwned();
  expect(broken()).toBe(0);

  // An order that is none: it throws.
  thread?.postMessage(null);
  await expect.poll(() => ends, patience).toEqual([expect.any(TypeError)]);
  expect(() => first.assertOwned()).toThrow("the connection to the bus broke");
  expect(broken()).toBe(1);

  const second = await take();
  second.assertOwned();
  await reconnect();
  await expect.poll(() => second.lost.aborted, patience).toBe(true);
  expect(second.lost.reason.message).toContain("the connection to the bus broke");
  expect(broken()).toBe(2);
  expect(ends).toHaveLength(1);
});
