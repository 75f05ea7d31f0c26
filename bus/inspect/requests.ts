/** Lists the requests of a function: pending, in flight, retrying, or delayed. */
import { JetStreamApiError } from "@nats-io/jetstream";
import type { Bus } from "../nats/connect.ts";
import { type LastValue, readAll } from "../nats/lastvalues.ts";
import { requestOrReplay } from "../queue/request.ts";
import {
  consumers,
  type ObjectKey,
  parseKeySubject,
  type QueueScope,
  timersStream,
  work,
  workStream,
} from "../subjects.ts";

/**
 * The state of a request. `pending`: waits for a worker. `in-flight`: delivered to a worker, perhaps more than once. `retrying`:
 * the last attempt failed, and the next one is scheduled. `delayed`: scheduled for another reason.
 */
export type RequestState = "pending" | "in-flight" | "retrying" | "delayed";

/** A request on the bus. */
export interface ListedRequest {
  readonly key: ObjectKey;
  readonly state: RequestState;
  /** When it was stored. Milliseconds since the epoch. */
  readonly storedAt: number;
  /** When it falls due, in milliseconds since the epoch; undefined if it is already due. */
  readonly dueAt: number | undefined;
  /** Failed attempts so far. */
  readonly attempt: number;
  /** Why the last attempt failed, as a CamelCase word. */
  readonly reason: string | undefined;
  readonly cause: ReturnType<typeof requestOrReplay>["cause"];
}

/** Tickets, and timers, read at most: a longer list is of no use to people. */
const mostRead = 10_000;

/** Due requests first, oldest first; then delayed ones by their due time. */
export const byUrgency = (a: ListedRequest, b: ListedRequest): number =>
  (a.dueAt ?? 0) - (b.dueAt ?? 0) || a.storedAt - b.storedAt;

/** All requests, the most urgent first. Empty if no worker ever ran. */
export async function listRequests(bus: Bus, scope: QueueScope): Promise<ListedRequest[]> {
  const [tickets, timers] = await Promise.all([listTickets(bus, scope), listTimers(bus, scope)]);
  return [...tickets, ...timers].sort(byUrgency);
}

async function listTickets(bus: Bus, scope: QueueScope): Promise<ListedRequest[]> {
  const stream = workStream(scope.fn);
  const worker = await bus.jsm.consumers.info(stream, consumers.worker(scope)).catch(ignoreAbsent);
  if (worker === undefined) return [];
  const stored = await read(bus, stream, work.tickets(scope));
  return stored.map((ticket) => ({
    ...listed(ticket),
    state: ticket.sequence <= worker.delivered.stream_seq ? "in-flight" : "pending",
    dueAt: undefined,
  }));
}

async function listTimers(bus: Bus, scope: QueueScope): Promise<ListedRequest[]> {
  const stored = await read(bus, timersStream(scope.fn), work.timers(scope));
  return stored.map((timer) => {
    const { failed, attempt, since } = requestOrReplay(timer.string());
    const state = failed || attempt > 0 ? "retrying" : "delayed";
    return { ...listed(timer), state, dueAt: since };
  });
}

function listed(message: LastValue): Omit<ListedRequest, "state" | "dueAt"> {
  const { attempt, reason, cause } = requestOrReplay(message.string());
  const { key } = parseKeySubject(message.subject);
  return { key, storedAt: Date.parse(message.time), attempt, reason, cause };
}

async function read(bus: Bus, stream: string, filter: string): Promise<LastValue[]> {
  const values: LastValue[] = [];
  if ((await bus.jsm.streams.info(stream).catch(ignoreAbsent)) === undefined) return values;
  for await (const value of readAll(bus, stream, { filter, from: 1 })) {
    if (values.push(value) >= mostRead) break;
  }
  return values;
}

function ignoreAbsent(error: unknown): undefined {
  if (error instanceof JetStreamApiError && error.status === 404) return undefined;
  throw error;
}
