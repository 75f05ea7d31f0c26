/** What an operator asks the bus: how long the queues are, what is stored, where the bridge is. */
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
import { interestOf, kindsOf, type ReconcileFunction } from "../worker/function.ts";

/** A function's queue. Figures are counts of objects unless they say so; undefined when the function never ran on this bus. */
export interface FunctionStatus {
  readonly function: string;
  /** Events, webhooks and due requests that no worker has looked at yet: of these it is not known how many objects they are. */
  readonly events: number | undefined;
  /** Wait for a free worker. */
  readonly pending: number | undefined;
  /** Changed while they were reconciled; asked for again when that ends. */
  readonly parked: number | undefined;
  /** Are being reconciled. */
  readonly inFlight: number | undefined;
  /** Wait for their time. */
  readonly delayed: number | undefined;
  /** Of those, the ones whose last attempt failed; undefined also where more are delayed than are looked at. */
  readonly retrying: number | undefined;
  readonly deadLetters: number | undefined;
}

/** Where a bridge is with a kind, in one namespace if it watches only some. */
export interface KindPosition extends Position {
  readonly namespace?: string;
}

/** A kind on the bus. */
export interface KindStatus {
  readonly kind: string;
  /** Empty when no bridge ever watched it. */
  readonly bridges: readonly KindPosition[];
}

const absent = (error: unknown): boolean => error instanceof JetStreamApiError && error.status === 404;

/** What was asked of a stream or consumer; undefined when there is no such. */
async function ifThere<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (absent(error)) return undefined;
    throw error;
  }
}

/** Messages on the matching subjects of a stream; undefined when there is no such stream. */
async function count({ jsm }: Bus, stream: string, filter: string): Promise<number | undefined> {
  const info = await ifThere(jsm.streams.info(stream, { subjects_filter: filter }));
  if (info === undefined) return undefined;
  return Object.values(info.state.subjects ?? {}).reduce((sum, messages) => sum + messages, 0);
}

/** So many letters can be looked at in one read. */
const readLetters = 1000;

/** A letter that was taken away leaves an empty message for a moment, which is none; among very many it does not matter. */
async function countLetters(bus: Bus, scope: QueueScope): Promise<number | undefined> {
  const messages = await count(bus, streams.deadLetters, work.deadLetters(scope));
  if (messages === undefined || messages > readLetters) return messages;
  return (await deadLetters(bus, scope).list()).length;
}

/** So many delayed requests are looked at to tell which are retries. */
const readDelayed = 10_000;

/** Nothing but the request itself says why it waits. */
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

/** Reads the status of a function's queue. */
export async function functionStatus(
  bus: Bus,
  fn: ReconcileFunction,
  cluster: string,
): Promise<FunctionStatus> {
  const scope: QueueScope = { fn: fn.name, cluster };
  const [events, consumer, parked, delayed, retrying, letters] = await Promise.all([
    ifThere(countUnrouted(bus, interestOf(fn, cluster))),
    ifThere(bus.jsm.consumers.info(workStream(fn.name), consumers.worker(scope))),
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

/** Reads the status of every kind that the functions use, and of those that the installation lists for them. */
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

/** A bridge that watched all namespaces before it watched some, or the other way round, leaves its position behind. */
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
