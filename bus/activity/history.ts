/** What workers did, read back: records of an object, of a trace, or since a time. */
import { JetStreamApiError, type StreamState } from "@nats-io/jetstream";
import { parseTrace, traceId } from "../events/trace.ts";
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
import { type Activity, activityIn } from "./record.ts";

/** A record, and whose it is. */
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

/** Whose records. */
export interface ActivityScope {
  readonly cluster: string;
  /** Whose streams are read. */
  readonly functions: readonly string[];
  /** Of the objects that were reconciled; empty for cluster-scoped ones. */
  readonly namespaces: readonly string[] | "every";
}

/** What is looked for. */
export type SearchTarget = { readonly object: ObjectOfKind } | { readonly trace: string };

const filtersOf = ({ cluster, namespaces }: ActivityScope): string[] =>
  namespaces === "every"
    ? [activity.every(cluster)]
    : [...new Set(namespaces)].map((namespace) => activity.every(cluster, namespace));

/** How much to look at. */
export interface SearchLimits {
  /** Only what was stored before this time: nanoseconds since the epoch. */
  readonly before?: bigint | undefined;
  /** Records at the most. */
  readonly limit: number;
  /** No more is begun to be looked at after so long, in milliseconds. */
  readonly millis: number;
}

/** What was found. */
export interface FoundActivity {
  /** The oldest first. */
  readonly found: readonly StoredActivity[];
  /** The search ended at this time, and older records were not read; undefined after a full search. Nanoseconds since the epoch. */
  readonly before: bigint | undefined;
}

/** Positions in a stream that are read before the limits are checked again. */
const stretch = 8192;

/**
 * The newest records that are about an object: it was reconciled, or written to. Or those of a trace, named by its id or a
 * `traceparent`. Nothing on the bus knows where they are, so each stream is read backwards, from the newest on.
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
  // Once in any case, or a caller that goes on from here would never get anywhere.
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

/** A stream that is read from the newest record on. */
interface Backwards {
  /** Looks at the next stretch, and returns what is meant. */
  next(filters: readonly string[], searched: SearchTarget): Promise<StoredActivity[]>;
  /** Records from this time on were read; 0 when all were. Nanoseconds since the epoch. */
  floor(): bigint;
}

/** Undefined where the function is not installed, or has not been yet. */
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

/** Positions of a stream: from the first to before the second. */
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
  // Most of what is read is something else, and parsing is what costs.
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

/** The id in what somebody gives as the name of a trace. */
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
