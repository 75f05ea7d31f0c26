/** Waits until the bus of a trial is quiet, and describes what is stuck if it is not. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "../../bus/nats/connect.ts";
import { consumers, streams, timersStream, workStream } from "../../bus/subjects.ts";
import { scope, subscription } from "./replica.ts";

const pollMillis = 100;
/** Polls in a row that must be quiet, because a single poll can miss work that moves from one process to the next. */
const quietPolls = 3;
const quietMillis = 120_000;
/** Messages of a stream to show. */
const shownMessages = 10;

/** Resolves when no message is pending and no worker has any in flight. */
export async function untilQuiet(bus: Bus, signal: AbortSignal): Promise<void> {
  const until = performance.now() + quietMillis;
  for (let quiet = 0; quiet < quietPolls; ) {
    // A bus that is down because of a fault is not quiet.
    const pending = await pendingWork(bus).catch((error: unknown) => [String(error)]);
    quiet = pending.length === 0 ? quiet + 1 : 0;
    if (performance.now() > until) throw new Error((await describeStuck(bus, pending)).join("\n  "));
    await sleep(pollMillis, undefined, { signal });
  }
}

/** What is still pending after the deadline, as lines. */
async function describeStuck(bus: Bus, pending: readonly string[]): Promise<string[]> {
  return [
    `expected the bus to become quiet within ${quietMillis} ms, found ${pending.join("; ")}:`,
    await workConsumer(bus),
    ...(await messagesIn(bus, workStream(scope.fn))),
    ...(await messagesIn(bus, timersStream(scope.fn))),
  ];
}

/** The pending work by kind. */
async function pendingWork({ jsm }: Bus): Promise<string[]> {
  const [router, work, timers] = await Promise.all([
    jsm.consumers.info(streams.objects, consumers.router(subscription)),
    jsm.streams.info(workStream(scope.fn)),
    jsm.streams.info(timersStream(scope.fn)),
  ]);
  const counts = {
    "events to route": router.num_pending + router.num_ack_pending,
    tickets: work.state.messages,
    "marks and timers": timers.state.messages,
  };
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`);
}

/** The state of the workers' consumer. */
async function workConsumer({ jsm }: Bus): Promise<string> {
  const info = await jsm.consumers.info(workStream(scope.fn), consumers.worker(scope));
  const { delivered, ack_floor, num_pending, num_ack_pending } = info;
  return `consumer of tickets: ${JSON.stringify({ delivered, ack_floor, num_pending, num_ack_pending })}`;
}

/** The first messages of a stream. */
async function messagesIn({ jsm }: Bus, stream: string): Promise<string[]> {
  const { state } = await jsm.streams.info(stream);
  const lines: string[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq && lines.length < shownMessages; seq++) {
    const message = await jsm.streams.getMessage(stream, { seq }).catch(() => null);
    if (message)
      lines.push(`${stream} ${seq} ${message.subject} ${String(message.header)} ${message.string()}`);
  }
  return lines;
}
