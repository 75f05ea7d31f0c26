/** Consumers, streams, and messages of functions that were removed or that have other subscriptions now. */
import type { ConsumerInfo, JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import { watched } from "../objects/watchsubjects.ts";
import { functionIn, indexes, type QueueScope, streams, token, work } from "../subjects.ts";
import { type FunctionSubscription, functionConsumers } from "../topology.ts";
import { ownerIn } from "./owner.ts";

/** A consumer that no function uses, or a stream of a removed function. */
export interface Leftover {
  readonly stream: string;
  /** Undefined for the stream itself. */
  readonly consumer?: string;
  /** Time of the last use, or of the creation. RFC 3339. */
  readonly used: string;
  /** Requests, timers, or webhooks that no function will process. */
  readonly messages: number;
  /** Why it is kept; undefined if it can be removed. */
  readonly kept?: "in use" | "used recently" | "not empty" | "used by another cluster";
}

/** Options of {@link leftovers}. */
export interface LeftoverOptions {
  readonly subscriptions: readonly FunctionSubscription[];
  readonly cluster: string;
  /** Functions of other projects have no leftovers here. Default: the bus has only one project. */
  readonly project?: string;
  /** A leftover used within this time was used recently. Milliseconds. */
  readonly latelyMillis: number;
  /** Also remove leftovers that are not empty or were used recently. Leftovers in use always stay. */
  readonly force: boolean;
}

const isRecords = (stream: string): boolean => stream.startsWith("ACTIVITY_");

/** Finds leftovers, consumers before their streams. */
export async function leftovers(
  jsm: JetStreamManager,
  { subscriptions, cluster, project, latelyMillis, force }: LeftoverOptions,
): Promise<Leftover[]> {
  const declared = new Set(
    subscriptions
      // Neither setting is part of a name.
      .flatMap((subscription) => functionConsumers(subscription, { replicas: 1, ackWaitMillis: 1000 }))
      .map(([stream, { durable_name }]) => `${stream} ${durable_name}`),
  );
  const functions = new Set(subscriptions.map(({ scope }) => scope.fn));
  const inCluster = new RegExp(`^[a-z][a-z0-9-]*_${token(cluster)}(_[0-9a-f]{8})?$`);
  const isOurs = (stream: string, consumer: string): boolean =>
    functionIn(stream) !== undefined
      ? consumer === token(cluster)
      : [streams.objects, streams.webhooks].includes(stream as never) && inCluster.test(consumer);

  const found: Leftover[] = [];
  const infos: StreamInfo[] = [];
  for await (const info of jsm.streams.list()) infos.push(info);
  /** Functions that another cluster still has, shown by its consumers of their requests. Activity streams have no consumers. */
  const shared = new Set<string>();
  infos.sort((a, b) => Number(isRecords(a.config.name)) - Number(isRecords(b.config.name)));
  const foreign = project === undefined ? new Set() : functionsOfOthers(infos, project);
  for (const info of infos) {
    const stream = info.config.name;
    const fn = functionIn(stream);
    if (fn !== undefined && foreign.has(fn)) continue;
    const isGone = fn !== undefined && !functions.has(fn);
    const consumers: Leftover[] = [];
    let strangers = 0;
    for await (const consumer of jsm.consumers.list(stream)) {
      if (!isOurs(stream, consumer.name)) strangers++;
      else if (
        !declared.has(`${stream} ${consumer.name}`) &&
        !foreign.has(functionOf({ stream, consumer: consumer.name }))
      )
        consumers.push(judgedConsumer(consumer, latelyMillis, force));
    }
    found.push(...consumers);
    if (!isGone) continue;
    if (strangers > 0) shared.add(fn);
    const kept = shared.has(fn) ? "used by another cluster" : consumers.find(({ kept }) => kept)?.kept;
    found.push(judgedStream(info, await messagesIn(jsm, stream), kept, latelyMillis, force));
  }
  return found;
}

/** Names of the functions that belong to other projects. */
const functionsOfOthers = (infos: readonly StreamInfo[], project: string): ReadonlySet<string> =>
  new Set(
    infos.flatMap(({ config }) => {
      const owner = ownerIn(config.metadata);
      return owner === undefined || owner === project ? [] : (functionIn(config.name) ?? []);
    }),
  );

function judgedConsumer(info: ConsumerInfo, latelyMillis: number, force: boolean): Leftover {
  const { stream_name: stream, name, created, delivered, ack_floor, num_pending, num_ack_pending } = info;
  const used = latest(created, delivered.last_active, ack_floor.last_active);
  // The current router receives every object, so a former one's backlog does not matter.
  const messages = stream === streams.objects ? 0 : num_pending + num_ack_pending;
  const isInUse = info.num_waiting > 0 || info.push_bound === true;
  const kept = isInUse ? "in use" : force ? undefined : reason(used, messages, latelyMillis);
  return { stream, consumer: name, used, messages, ...(kept && { kept }) };
}

function judgedStream(
  { config: { name: stream }, created, state }: StreamInfo,
  messages: number,
  held: Leftover["kept"],
  latelyMillis: number,
  force: boolean,
): Leftover {
  const used = latest(created, state.messages > 0 ? state.last_ts : undefined);
  const kept = held ?? (force ? undefined : reason(used, messages, latelyMillis));
  return { stream, used, messages, ...(kept && { kept }) };
}

const reason = (used: string, messages: number, latelyMillis: number): Leftover["kept"] => {
  if (messages > 0) return "not empty";
  return Date.now() - Date.parse(used) < latelyMillis ? "used recently" : undefined;
};

/** The server sends times as text, despite the client library's types. */
const latest = (...times: readonly (string | number | undefined)[]): string =>
  new Date(Math.max(...times.map((time) => Date.parse(String(time)) || 0))).toISOString();

/** Counts requests. Activity records and the schedule of a sweep, which always exists, do not count. */
async function messagesIn(jsm: JetStreamManager, stream: string): Promise<number> {
  if (isRecords(stream)) return 0;
  const { state } = await jsm.streams.info(stream, { subjects_filter: ">" });
  const requests = Object.entries(state.subjects ?? {}).filter(([subject]) => !subject.startsWith("sweeps."));
  return requests.reduce((sum, [, count]) => sum + count, 0);
}

/** The function that the leftover belonged to. */
export const functionOf = ({ stream, consumer = "" }: Pick<Leftover, "stream" | "consumer">): string =>
  functionIn(stream) ?? consumer.slice(0, consumer.indexOf("_"));

/** Messages of one function in a stream that functions share. */
export interface LeftMessages {
  readonly stream: string;
  readonly subjects: string;
  readonly messages: number;
}

/** Finds dead letters, crash records, index entries, and watch records of a function in a cluster. */
export async function leftMessages(jsm: JetStreamManager, scope: QueueScope): Promise<LeftMessages[]> {
  const names = new Set(await namesOf(jsm));
  const places = [
    { stream: streams.deadLetters, subjects: work.deadLetters(scope) },
    { stream: streams.deadLetters, subjects: work.allCrashes(scope) },
    { stream: streams.indexes, subjects: indexes.all(scope) },
    { stream: streams.indexes, subjects: watched.all(scope) },
  ].filter(({ stream }) => names.has(stream));
  const found: LeftMessages[] = [];
  for (const { stream, subjects } of places) {
    const { state } = await jsm.streams.info(stream, { subjects_filter: subjects });
    const messages = Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
    if (messages > 0) found.push({ stream, subjects, messages });
  }
  return found;
}

async function namesOf(jsm: JetStreamManager): Promise<string[]> {
  const names: string[] = [];
  for await (const name of jsm.streams.names()) names.push(name);
  return names;
}

/** Deletes the messages. */
export async function removeMessages(
  jsm: JetStreamManager,
  { stream, subjects }: LeftMessages,
): Promise<void> {
  await jsm.streams.purge(stream, { filter: subjects });
}

/** Deletes the stream or consumer. */
export async function removeLeftover(jsm: JetStreamManager, { stream, consumer }: Leftover): Promise<void> {
  await (consumer === undefined ? jsm.streams.delete(stream) : jsm.consumers.delete(stream, consumer));
}
