/** The requests of a function: the objects that wait for a worker, that a worker has, or that wait for a time. */
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
 * Where a request is. `pending`: it waits for a worker; `in-flight`: a worker has it, or had it and it is delivered again; `retrying`: its last attempt failed, and it
 * waits for the next one; `delayed`: it waits for its time for another reason.
 */
export type RequestState = "pending" | "in-flight" | "retrying" | "delayed";

/** A request on the bus. */
export interface ListedRequest {
  readonly key: ObjectKey;
  readonly state: RequestState;
  /** When it was stored. Milliseconds since the epoch. */
  readonly storedAt: number;
  /** When it falls due. Milliseconds since the epoch. Undefined for one that is due. */
  readonly dueAt: number | undefined;
  /** Failed attempts so far. */
  readonly attempt: number;
  /** Why the last attempt failed: a CamelCase word. */
  readonly reason: string | undefined;
  readonly cause: ReturnType<typeof requestOrReplay>["cause"];
}

/** At most so many requests are read of each kind: more is no list for people. */
const mostRead = 10_000;

/** Requests that are due come first, the oldest first, then the others by their time. */
export const byUrgency = (a: ListedRequest, b: ListedRequest): number =>
  (a.dueAt ?? 0) - (b.dueAt ?? 0) || a.storedAt - b.storedAt;

/** All requests, the most urgent first. Empty where no worker ever ran. */
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
