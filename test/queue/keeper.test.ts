/** The death of the thread that extends tickets while a debugger has stopped a worker. */
import type { Worker } from "node:worker_threads";
import { AckPolicy } from "@nats-io/jetstream";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Delivery, deliveryOf } from "../../bus/nats/delivery.ts";
import { startKeeper } from "../../bus/worker/keeper.ts";
import { keepOwnership, type Ticket } from "../../bus/worker/ownership.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

/** Longer than any pause of this machine. */
const ackWaitMillis = 60_000;
const polling = { timeout: 30_000, interval: 20 };
let local: LocalBus;
beforeAll(async () => {
  local = await startLocalBus();
  const { jsm } = local.bus;
  await jsm.streams.add({ name: "KEPT", subjects: ["kept"] });
  const ack_wait = ackWaitMillis * 1_000_000;
  await jsm.consumers.add("KEPT", { durable_name: "keeps", ack_policy: AckPolicy.Explicit, ack_wait });
});
afterAll(() => local?.stop());

/** Publishes a message and returns its delivery. */
async function deliver(): Promise<Delivery> {
  const { js, nc, inbox } = local.bus;
  await js.publish("kept");
  const reply = inbox.create();
  const arrived = nc.subscribe(reply, { max: 1 });
  nc.publish("$JS.API.CONSUMER.MSG.NEXT.KEPT.keeps", JSON.stringify({ batch: 1 }), { reply });
  for await (const message of arrived) return deliveryOf(local.bus, message);
  throw new Error("expected a message, but the connection was closed");
}

/** Breaks the connection and resolves when it is restored: an earlier request would be discarded. */
async function reconnect(): Promise<void> {
  const { nc } = local.bus;
  const statuses = nc.status();
  await nc.reconnect();
  for await (const { type } of statuses) if (type === "reconnect") return;
}

test("without its keeper a worker loses its tickets with its own connection, and is notified of the death", async () => {
  const { nc } = local.bus;
  let thread: Worker | undefined;
  process.once("worker", (one) => {
    thread = one;
  });
  const ends: Error[] = [];
  const address = { url: local.natsUrl, name: "test" };
  const keeper = await startKeeper(address, ackWaitMillis, (error) => ends.push(error));
  const stale: string[] = [];
  const ownership = keepOwnership(nc, ackWaitMillis, keeper);
  onTestFinished(() => ownership.stop());
  ownership.onStale((staleness) => stale.push(staleness));

  const broken = () => stale.filter((staleness) => staleness === "disconnected").length;
  async function take(): Promise<Ticket> {
    for (;;) {
      // On a busy machine the delivery may be too old to take.
      const ticket = ownership.take(await deliver());
      if (ticket !== undefined) return ticket;
    }
  }

  // While the keeper lives, only its connection matters.
  const first = await take();
  await reconnect();
  await expect.poll(() => stale, polling).toContain("paused");
  first.assertOwned();
  expect(broken()).toBe(0);

  // An invalid command makes the thread throw.
  thread?.postMessage(null);
  await expect.poll(() => ends, polling).toEqual([expect.any(TypeError)]);
  expect(() => first.assertOwned()).toThrow("the connection to the bus broke");
  expect(broken()).toBe(1);

  const second = await take();
  second.assertOwned();
  await reconnect();
  await expect.poll(() => second.lost.aborted, polling).toBe(true);
  expect(second.lost.reason.message).toContain("the connection to the bus broke");
  expect(broken()).toBe(2);
  expect(ends).toHaveLength(1);
});
