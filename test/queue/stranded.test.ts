/** The search for messages that a real server stores but no longer delivers. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bus } from "../../bus/nats/connect.ts";
import { lastValuesOf } from "../../bus/nats/lastvalues.ts";
import { publishUntilAnswered } from "../../bus/queue/publish.ts";
import { type TicketQueue, ticketQueue } from "../../bus/queue/queue.ts";
import { startRelay } from "../../bus/queue/relay.ts";
import { newRequest, parseRequest } from "../../bus/queue/request.ts";
import { searchStranded } from "../../bus/queue/stranded.ts";
import { timers } from "../../bus/queue/timers.ts";
import {
  consumers,
  keyText,
  type ObjectKey,
  parseKeySubject,
  sweeps,
  timersStream,
  work,
  workStream,
} from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

const cluster = "local";
const polling = { timeout: 60_000, interval: 50 };
let local: LocalBus;
let bus: Bus;
beforeAll(async () => {
  local = await startLocalBus();
  bus = local.bus;
});
afterAll(() => local?.stop());

const named = (name: string): ObjectKey => ({ namespace: "default", name });

/** A function's queue on streams of its own. */
async function queueOf(fn: string): Promise<TicketQueue> {
  const scope = { fn, cluster };
  const subscription = { scope, kinds: [{ group: "", kind: "Secret" }] };
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 3000 }, [subscription]);
  return ticketQueue(bus, scope, { replica: "replica-1", markMillis: 100 });
}

/** Keeps schedules from firing: the due message is too large for its stream. */
const fireNothing = (fn: string) => bus.jsm.streams.update(timersStream(fn), { max_msg_size: 1 });
const fireAgain = (fn: string) => bus.jsm.streams.update(timersStream(fn), { max_msg_size: -1 });

const timersOf = (queue: TicketQueue) =>
  timers(bus, queue, (error) => {
    throw error;
  });

/** Cause types of the stored tickets, by key. */
async function requested({ scope }: TicketQueue): Promise<Map<string, string>> {
  const tickets = await lastValuesOf(bus, workStream(scope.fn))(work.tickets(scope));
  return new Map(
    tickets.map((ticket) => [
      keyText(parseKeySubject(ticket.subject).key),
      parseRequest(ticket.string()).cause.type,
    ]),
  );
}

const left = async (queue: TicketQueue): Promise<string[]> =>
  (await lastValuesOf(bus, timersStream(queue.scope.fn))(work.scheduled(queue.scope))).map(
    ({ subject }) => subject,
  );

/** Searches, many times as fast as a worker, until `done` holds. */
async function searching(
  queue: TicketQueue,
  done: () => Promise<void>,
): Promise<{ found: string[]; errors: unknown[] }> {
  const stopping = new AbortController();
  const found: string[] = [];
  const errors: unknown[] = [];
  const search = searchStranded({
    bus,
    queue,
    signal: stopping.signal,
    onFound: (subject) => found.push(subject),
    onError: (error) => errors.push(error),
    everyMillis: 100,
    graceMillis: 400,
    pageSize: 7,
  });
  try {
    await done();
  } finally {
    stopping.abort();
    await search;
  }
  return { found, errors };
}

test("requests each stranded timer exactly once, and keeps those that are not due", async () => {
  const queue = await queueOf("forgotten");
  const delayed = timersOf(queue);
  const keys = Array.from({ length: 40 }, (_, at) => named(`key-${at}`));
  // A timer that fires before the bus stops delivering is not stranded: then set all again.
  for (let millis = 5000; (await left(queue)).length < keys.length; millis *= 2) {
    await fireAgain("forgotten");
    // Timers that are not due yet are mixed with the others.
    for (const [at, key] of keys.entries())
      await delayed.set(key, at % 2 === 0 ? 3_600_000 : millis, newRequest({ type: "timer" }));
    await fireNothing("forgotten");
  }
  const due = keys.filter((_, at) => at % 2 === 1);
  const { found, errors } = await searching(queue, () =>
    expect.poll(async () => [...(await requested(queue)).keys()], polling).toHaveLength(due.length),
  );
  delayed.stop();
  const waiting = keys.filter((_, at) => at % 2 === 0);
  expect(new Set((await requested(queue)).keys())).toEqual(new Set(due.map(keyText)));
  expect(new Set(await left(queue))).toEqual(new Set(waiting.map((key) => work.timer(queue.scope, key))));
  expect(found).toHaveLength(due.length);
  expect(errors).toEqual([]);
});

test("ignores messages that the bus delivers late", async () => {
  const queue = await queueOf("delivered");
  const key = named("owned");
  await queue.request(key, newRequest({ type: "replay" }));
  const { found } = await searching(queue, async () => {
    for (let round = 0; round < 10; round++) {
      await queue.request(
        key,
        newRequest({ type: "webhook", provider: "github", event: "push", delivery: `number-${round}` }),
      );
      await expect.poll(() => left(queue), polling).toEqual([]);
    }
  });
  expect(found).toEqual([]);
});

/** Makes the consumer skip all stored messages, as after a crash that brought back acknowledged ones. */
async function leaveBehind(stream: string, name: string, next: string): Promise<void> {
  const { state } = await bus.jsm.streams.info(stream);
  await bus.jsm.consumers.update(stream, name, { max_deliver: 1, ack_wait: 100 * 1e6 });
  const consumer = await bus.js.consumers.get(stream, name);
  for await (const _ of await consumer.fetch({ max_messages: state.messages }));
  const info = () => bus.jsm.consumers.info(stream, name);
  await expect.poll(async () => (await info()).num_ack_pending, polling).toBe(0);
  await bus.jsm.consumers.update(stream, name, { max_deliver: -1, ack_wait: 3000 * 1e6 });
  // Acknowledging the next message raises the floor above all of them.
  await publishUntilAnswered(bus, next, JSON.stringify(newRequest({ type: "replay" })));
  await (await consumer.next())?.ackAck();
  expect((await info()).ack_floor.stream_seq).toBe(state.last_seq + 1);
  expect((await bus.jsm.streams.info(stream)).state.messages).toBe(state.messages);
}

test("requests acknowledged tickets and due messages that came back, and unblocks their keys", async () => {
  const queue = await queueOf("back");
  const { scope } = queue;
  const keys = Array.from({ length: 20 }, (_, at) => named(`key-${at}`));
  for (const key of keys) await queue.request(key, newRequest({ type: "replay" }));
  const due = named("due");
  await publishUntilAnswered(bus, work.timerDue(scope, due), JSON.stringify(newRequest({ type: "timer" })));
  const before = await bus.jsm.streams.info(workStream("back"));
  await leaveBehind(workStream("back"), consumers.worker(scope), work.ticket(scope, named("next")));
  await leaveBehind(timersStream("back"), consumers.relay(scope), work.timerDue(scope, named("next")));
  // In flight: must not be deleted.
  const held = named("held");
  await queue.request(held, newRequest({ type: "replay" }));
  await (await bus.js.consumers.get(workStream("back"), consumers.worker(scope))).next();
  const stopping = new AbortController();
  const relay = startRelay({
    bus,
    queue,
    slots: 1,
    deadline: { ackWaitMillis: 5000, signal: stopping.signal },
    onError: () => undefined,
  });
  const { found } = await searching(queue, () =>
    expect
      .poll(async () => (await bus.jsm.streams.info(workStream("back"))).state.first_seq, polling)
      .toBeGreaterThan(before.state.last_seq),
  );
  const names = [...keys, due, held].map(keyText);
  const tickets = async () => [...(await requested(queue)).keys()].sort();
  await expect.poll(tickets, polling).toEqual(names.toSorted());
  stopping.abort();
  await relay.stop();
  const strandedKeys = found.map((subject) => keyText(parseKeySubject(subject).key));
  expect(new Set(strandedKeys)).toEqual(new Set(names.filter((name) => name !== keyText(held))));
});

test("a sweep that came back after it was done is taken away, and requests nothing", async () => {
  const queue = await queueOf("swept");
  const { scope } = queue;
  await publishUntilAnswered(bus, sweeps.due(scope), "");
  await leaveBehind(timersStream("swept"), consumers.relay(scope), work.timerDue(scope, named("next")));
  const due = async () => (await lastValuesOf(bus, timersStream("swept"))(work.due(scope))).length;
  expect(await due()).toBe(1);
  const { found, errors } = await searching(queue, () => expect.poll(due, polling).toBe(0));
  expect([found, errors]).toEqual([[], []]);
  expect(await requested(queue)).toEqual(new Map());
});

test("requests unreadable messages, and reports and deletes those that name no object", async () => {
  const queue = await queueOf("unreadable");
  const mark = { object: "uid", replica: "somebody", version: "1" };
  await publishUntilAnswered(bus, work.mark(queue.scope, named("object"), mark), "no request");
  await publishUntilAnswered(bus, `marks.at.unreadable.${cluster}.nobody`, "{}");
  const { errors } = await searching(queue, () => expect.poll(() => left(queue), polling).toEqual([]));
  expect(await requested(queue)).toEqual(new Map([["default/object", "replay"]]));
  expect(errors.map(String)).toEqual([expect.stringContaining("marks.at.unreadable.local.nobody")]);
});

test("a read of more than a bus tells at once has all of every filter", async () => {
  const queue = await queueOf("many");
  const { scope } = queue;
  // The second filter's messages lie before the first one's.
  const subjects = ["b", "a"].flatMap((namespace) =>
    Array.from({ length: 600 }, (_, at) => work.ticket(scope, { namespace, name: `${at}` })),
  );
  for (const subject of subjects) bus.nc.publish(subject, "");
  const stored = async () => (await bus.jsm.streams.info(workStream("many"))).state.messages;
  await expect.poll(stored, polling).toBe(subjects.length);
  const filters = ["a", "b"].map((namespace) => `work.many.${cluster}.${namespace}.*`);
  const read = await lastValuesOf(bus, workStream("many"))(...filters);
  expect(read.map(({ subject }) => subject).sort()).toEqual(subjects.sort());
});
