/** Requests to a ticket queue: each answer triggers the next one. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "../../bus/nats/connect.ts";
import { consumers, type QueueScope, workStream } from "../../bus/subjects.ts";
import type { Order } from "./queueplan.ts";

/** Concurrent requests. */
const concurrentRequests = 128;
const backlogPollMillis = 10;

/** Makes the requests of an order, one with each call of `request`, and returns how many of them found their key owned. */
export async function makeRequests(
  bus: Pick<Bus, "jsm">,
  scope: QueueScope,
  { requests, keys, offset, backlog }: Order,
  request: (at: number) => Promise<"accepted" | "owned">,
): Promise<number> {
  let made = 0;
  let owned = 0;
  let waiting = 0;
  const poll = async () => {
    while (made < requests) {
      waiting = (await bus.jsm.consumers.info(workStream(scope.fn), consumers.worker(scope))).num_pending;
      await sleep(backlogPollMillis);
    }
  };
  const make = async () => {
    while (made < requests) {
      if (waiting >= backlog) {
        await sleep(backlogPollMillis);
        continue;
      }
      if ((await request((offset + made++) % keys)) === "owned") owned++;
    }
  };
  await Promise.all([poll(), ...Array.from({ length: concurrentRequests }, make)]);
  return owned;
}
