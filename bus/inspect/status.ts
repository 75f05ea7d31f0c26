/** Status for operators: queue lengths, dead letters, and the positions of the bridges. */
import { JetStreamApiError } from "@nats-io/jetstream";
import { kindIn, type Position, parsePosition, positionKey, positionKeys } from "../bridge/position.ts";
import { kindText } from "../kube/kind.ts";
import type { Bus } from "../nats/connect.ts";
import { lastValuesOf, readAll } from "../nats/lastvalues.ts";
import { deadLetters } from "../queue/deadletters.ts";
import { requestOrReplay } from "../queue/request.ts";
import { countUnrouted } from "../queue/unrouted.ts";
import {
  bridgeStream,
  bridgeSubject,
  consumers,
  type GroupKind,
  type QueueScope,
  streams,
  timersStream,
  untoken,
  work,
  workStream,
} from "../subjects.ts";
import { kindsOf, type ReconcileFunction, subscriptionOf } from "../worker/function.ts";

/** A function's queue. Unless noted, figures count objects; undefined if the function never ran on this bus. */
export interface FunctionStatus {
  readonly function: string;
  /** Events, webhooks, and due requests that no worker has routed yet. The number of objects is not known. */
  readonly events: number | undefined;
  /** Waiting for a worker. */
  readonly pending: number | undefined;
  /** Changed while they were reconciled; requested again when that reconcile ends. */
  readonly parked: number | undefined;
  /** Being reconciled. */
  readonly inFlight: number | undefined;
  /** Scheduled for later. */
  readonly delayed: number | undefined;
  /** Delayed objects whose last attempt failed; also undefined if more are delayed than `readDelayed`. */
  readonly retrying: number | undefined;
  readonly deadLetters: number | undefined;
}

/** The position of a bridge in the watch of a kind; with a namespace if it watches only some. */
export interface KindPosition extends Position {
  readonly namespace?: string;
}

/** The status of a kind on the bus. */
export interface KindStatus {
  readonly kind: string;
  /** Empty if no bridge ever watched the kind. */
  readonly bridges: readonly KindPosition[];
}

const absent = (error: unknown): boolean => error instanceof JetStreamApiError && error.status === 404;

/** The answer about a stream or consumer; undefined if it does not exist. */
async function ifExists<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (absent(error)) return undefined;
    throw error;
  }
}

/** Messages on the matching subjects of a stream; undefined if the stream does not exist. */
async function count({ jsm }: Bus, stream: string, filter: string): Promise<number | undefined> {
  const info = await ifExists(jsm.streams.info(stream, { subjects_filter: filter }));
  if (info === undefined) return undefined;
  return Object.values(info.state.subjects ?? {}).reduce((sum, messages) => sum + messages, 0);
}

/** Dead letters that one read returns at most. */
const readLetters = 1000;

/** A removed dead letter leaves an empty message for a second. Reads them to skip those, unless there are very many. */
async function countLetters(bus: Bus, scope: QueueScope): Promise<number | undefined> {
  const messages = await count(bus, streams.deadLetters, work.deadLetters(scope));
  if (messages === undefined || messages > readLetters) return messages;
  return (await deadLetters(bus, scope).list()).length;
}

/** Delayed requests to read when counting retries. */
const readDelayed = 10_000;

/** Only the request itself says whether it is a retry. */
async function countRetrying(bus: Bus, scope: QueueScope): Promise<number | undefined> {
  const stream = timersStream(scope.fn);
  const filter = work.timers(scope);
  const delayed = await count(bus, stream, filter);
  if (delayed === undefined || delayed > readDelayed) return undefined;
  if (delayed === 0) return 0;
  let retrying = 0;
  for await (const timer of readAll(bus, stream, { filter, from: 1 })) {
    const { attempt, failed } = requestOrReplay(timer.string());
    if (failed || attempt > 0) retrying++;
  }
  return retrying;
}

/** The lengths of a function's queue that are read without its messages. */
export type QueueLengths = Pick<FunctionStatus, "events" | "pending" | "inFlight" | "deadLetters">;

/** Reads the lengths of a function's queue. A removed dead letter counts for up to another second. */
export async function queueLengths(bus: Bus, fn: ReconcileFunction, cluster: string): Promise<QueueLengths> {
  const scope: QueueScope = { fn: fn.name, cluster };
  const [events, consumer, letters] = await Promise.all([
    ifExists(countUnrouted(bus, subscriptionOf(fn, cluster))),
    ifExists(bus.jsm.consumers.info(workStream(fn.name), consumers.worker(scope))),
    count(bus, streams.deadLetters, work.deadLetters(scope)),
  ]);
  return {
    events,
    pending: consumer?.num_pending,
    inFlight: consumer?.num_ack_pending,
    deadLetters: letters,
  };
}

/** Reads the status of a function's queue. */
export async function functionStatus(
  bus: Bus,
  fn: ReconcileFunction,
  cluster: string,
): Promise<FunctionStatus> {
  const scope: QueueScope = { fn: fn.name, cluster };
  const [events, consumer, parked, delayed, retrying, letters] = await Promise.all([
    ifExists(countUnrouted(bus, subscriptionOf(fn, cluster))),
    ifExists(bus.jsm.consumers.info(workStream(fn.name), consumers.worker(scope))),
    count(bus, timersStream(fn.name), work.marks(scope)),
    count(bus, timersStream(fn.name), work.timers(scope)),
    countRetrying(bus, scope),
    countLetters(bus, scope),
  ]);
  return {
    function: fn.name,
    events,
    pending: consumer?.num_pending,
    parked,
    inFlight: consumer?.num_ack_pending,
    delayed,
    retrying,
    deadLetters: letters,
  };
}

/** Reads the status of every kind that the functions use, and of the kinds that the installation lists for them. */
export async function kindStatuses(
  bus: Bus,
  functions: readonly ReconcileFunction[],
  cluster: string,
): Promise<KindStatus[]> {
  const positions = await positionsOf(bus, cluster);
  const declared: readonly GroupKind[] = functions.flatMap(kindsOf);
  const listed = functions.some(({ ownsListed }) => ownsListed) ? [...positions.keys()].flatMap(kindIn) : [];
  const all = [...declared, ...listed];
  const kinds = [...new Map(all.map((kind) => [kindText(kind), kind])).values()];
  return kinds.map((kind) => {
    const whole = positionKey(cluster, kind);
    const found = [...positions].flatMap(([key, position]): KindPosition[] => {
      if (key === whole) return [position];
      return key.startsWith(`${whole}.`)
        ? [{ ...position, namespace: untoken(key.slice(whole.length + 1)) }]
        : [];
    });
    return { kind: kindText(kind), bridges: current(found) };
  });
}

/** Drops old positions: a bridge that switched between all namespaces and some leaves its former position behind. */
function current(found: readonly KindPosition[]): KindPosition[] {
  const newest = found.reduce<KindPosition | undefined>(
    (best, next) => (best === undefined || next.time > best.time ? next : best),
    undefined,
  );
  return found.filter(({ namespace }) => (namespace === undefined) === (newest?.namespace === undefined));
}

/** Every position in a cluster, by its key. */
async function positionsOf(bus: Bus, cluster: string): Promise<Map<string, Position>> {
  const positions = new Map<string, Position>();
  const root = bridgeSubject("");
  if ((await count(bus, bridgeStream, bridgeSubject(">"))) === undefined) return positions;
  for (const value of await lastValuesOf(bus, bridgeStream)(bridgeSubject(positionKeys(cluster)))) {
    const position = parsePosition(value.string());
    if (position !== undefined) positions.set(value.subject.slice(root.length), position);
  }
  return positions;
}
