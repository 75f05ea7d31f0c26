/** Reads activity records: of an object or of a trace. */
import { JetStreamApiError, type StreamState } from "@nats-io/jetstream";
import { nanosOf } from "../nats/busclock.ts";
import type { Bus } from "../nats/connect.ts";
import { type LastValue, readFrom, type Start } from "../nats/lastvalues.ts";
import {
  activity,
  activityStream,
  type GroupKind,
  type ObjectKey,
  parseKeySubject,
  type QueueScope,
} from "../subjects.ts";
import { parseTrace, traceId } from "../tracing/trace.ts";
import { type Activity, activityIn } from "./record.ts";

/** A record with its function, cluster, and object. */
export interface StoredActivity extends QueueScope {
  readonly key: ObjectKey;
  /** Position in the function's stream. */
  readonly sequence: number;
  /** When it was stored: nanoseconds since the epoch. */
  readonly storedAt: bigint;
  readonly record: Activity;
}

/** An object of a kind. */
export type ObjectOfKind = GroupKind & ObjectKey;

/** The streams and namespaces of a search. */
export interface ActivityScope {
  readonly cluster: string;
  /** Functions whose streams are read. */
  readonly functions: readonly string[];
  /** Namespaces of the reconciled objects; an empty string for cluster-scoped objects. */
  readonly namespaces: readonly string[] | "every";
}

/** What to search for. */
export type SearchTarget = { readonly object: ObjectOfKind } | { readonly trace: string };

const filtersOf = ({ cluster, namespaces }: ActivityScope): string[] =>
  namespaces === "every"
    ? [activity.every(cluster)]
    : [...new Set(namespaces)].map((namespace) => activity.every(cluster, namespace));

/** Limits of a search. */
export interface SearchLimits {
  /** Only records stored before this time: nanoseconds since the epoch. */
  readonly before?: bigint | undefined;
  /** Maximum number of records. */
  readonly limit: number;
  /** After this time the search reads no further part of a stream. Milliseconds. */
  readonly millis: number;
}

/** The result of a search. */
export interface FoundActivity {
  /** Oldest first. */
  readonly found: readonly StoredActivity[];
  /** The search ended at this time, and older records were not read; undefined after a full search. Nanoseconds since the epoch. */
  readonly before: bigint | undefined;
}

/** Positions of a stream to read before the limits are checked again. */
const stretch = 8192;

/**
 * The newest records of an object (it was reconciled, or written), or of a trace, given by its id or a `traceparent`. There is
 * no index of them on the bus, so each stream is read backwards from its newest record.
 */
export async function searchActivity(
  bus: Pick<Bus, "inbox" | "jsm">,
  places: ActivityScope,
  searched: SearchTarget,
  { before, limit, millis }: SearchLimits,
): Promise<FoundActivity> {
  const filters = filtersOf(places);
  const deadline = performance.now() + millis;
  const opened = await Promise.all(places.functions.map((fn) => openBackwards(bus, fn, before)));
  const backwards = opened.filter((stream) => stream !== undefined);
  let found: StoredActivity[] = [];
  let floor: bigint;
  // At least once, or a caller that continues from the cursor would make no progress.
  do {
    const parts = await Promise.all(backwards.map((stream) => stream.next(filters, searched)));
    found = [...parts.flat(), ...found];
    floor = newest(backwards.map(({ floor }) => floor()));
  } while (
    floor > 0n &&
    found.filter(({ storedAt }) => storedAt >= floor).length <= limit &&
    performance.now() < deadline
  );
  const seen = found.filter(({ storedAt }) => storedAt >= floor);
  seen.sort((a, b) => (a.storedAt < b.storedAt ? -1 : 1));
  const shown = seen.slice(-limit);
  if (shown.length < seen.length) return { found: shown, before: shown[0]?.storedAt };
  return { found: shown, before: floor > 0n ? floor : undefined };
}

const newest = (times: readonly bigint[]): bigint => times.reduce((a, b) => (a > b ? a : b), 0n);

/** Reads a stream backwards from its newest record. */
interface Backwards {
  /** Reads the next part of the stream and returns the matching records. */
  next(filters: readonly string[], searched: SearchTarget): Promise<StoredActivity[]>;
  /** All records from this time on were read; 0 when the whole stream was. Nanoseconds since the epoch. */
  floor(): bigint;
}

/** Undefined if the function has no stream: it is not installed. */
async function openBackwards(
  bus: Pick<Bus, "inbox" | "jsm">,
  fn: string,
  before: bigint | undefined,
): Promise<Backwards | undefined> {
  const stream = activityStream(fn);
  const at = async (from: Start): Promise<LastValue | undefined> =>
    (await readFrom(bus, stream, { filter: activity.everywhere(fn), from, limit: 1 }))[0];
  const state = await stateOf(bus, stream);
  if (state === undefined) return undefined;
  const end = before === undefined ? undefined : await at(textOfNanos(before));
  let from = end?.sequence ?? state.last_seq + 1;
  let floor = 0n;
  return {
    floor: () => floor,
    async next(filters, searched) {
      if (from <= state.first_seq) {
        floor = 0n;
        return [];
      }
      const start = Math.max(state.first_seq, from - stretch);
      const parts = await Promise.all(
        filters.map((filter) => between(bus, { stream, filter, start, end: from }, searched)),
      );
      from = start;
      const first = start > state.first_seq ? await at(start) : undefined;
      floor = first === undefined ? 0n : nanosOf(first.time);
      return parts.flat();
    },
  };
}

async function stateOf({ jsm }: Pick<Bus, "jsm">, stream: string): Promise<StreamState | undefined> {
  try {
    return (await jsm.streams.info(stream)).state;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** A time in RFC 3339. */
const textOfNanos = (nanos: bigint): string => {
  const second = new Date(Number(nanos / 1_000_000_000n) * 1000).toISOString().slice(0, 19);
  return `${second}.${String(nanos % 1_000_000_000n).padStart(9, "0")}Z`;
};

/** Positions of a stream: from `start` to before `end`. */
interface Span {
  readonly stream: string;
  readonly filter: string;
  readonly start: number;
  readonly end: number;
}

async function between(
  bus: Pick<Bus, "inbox">,
  { stream, filter, start, end }: Span,
  searched: SearchTarget,
): Promise<StoredActivity[]> {
  const matches = "object" in searched ? isAbout(searched.object) : isOf(searched.trace);
  // Most records do not match and parsing is expensive, so compare the text first.
  const name = "object" in searched ? JSON.stringify(searched.object.name) : traceIn(searched.trace);
  const ending =
    "object" in searched ? `.${activity.of(anyScope, searched.object).split(".").at(-1)}` : undefined;
  const found: StoredActivity[] = [];
  for (let next = start; next < end; ) {
    const page = await readFrom(bus, stream, { filter, from: next });
    for (const message of page) {
      if (message.sequence >= end) return found;
      const isNamed = ending !== undefined && message.subject.endsWith(ending);
      const stored = isNamed || message.string().includes(name) ? storedIn(message) : undefined;
      if (stored !== undefined && matches(stored)) found.push(stored);
    }
    const last = page.at(-1);
    if (last === undefined) return found;
    next = last.sequence + 1;
  }
  return found;
}

const anyScope: QueueScope = { fn: "", cluster: "" };

/** The trace id in user input: an id or a `traceparent`. */
export const traceIn = (text: string): string =>
  parseTrace(text.trim())?.traceId ?? text.trim().toLowerCase();

const isOf = (text: string): ((one: StoredActivity) => boolean) => {
  const id = traceIn(text);
  return ({ record }) => traceId(record.traceparent) === id;
};

const isAbout = (object: ObjectOfKind): ((one: StoredActivity) => boolean) => {
  const isSame = (other: ObjectOfKind): boolean =>
    other.name === object.name &&
    other.namespace === object.namespace &&
    other.kind === object.kind &&
    other.group === object.group;
  return ({ key, record }) =>
    isSame({ group: record.group, kind: record.kind, ...key }) || record.writes.some(isSame);
};

function storedIn(message: LastValue): StoredActivity | undefined {
  const record = activityIn(message.string());
  if (record === undefined) return undefined;
  try {
    const { sequence, time } = message;
    return { ...parseKeySubject(message.subject), sequence, storedAt: nanosOf(time), record };
  } catch {
    return undefined;
  }
}
