/** Searches activity records: of an object or of a trace. */
import type { Bus } from "../nats/connect.ts";
import { activity, type GroupKind, type ObjectKey, type QueueScope } from "../subjects.ts";
import { parseTrace, traceId } from "../tracing/trace.ts";
import {
  type ActivityScope,
  activityStreams,
  filtersOf,
  openBackwards,
  type ReadRecord,
  type StoredActivity,
  storedIn,
} from "./stream.ts";

/** An object of a kind. */
export type ObjectOfKind = GroupKind & ObjectKey;

/** What to search for. */
export type SearchTarget = { readonly object: ObjectOfKind } | { readonly trace: string };

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
  const options = { filters: filtersOf(places), before, read: readerOf(searched) };
  const deadline = performance.now() + millis;
  const streams = await activityStreams(bus, places.functions);
  const backwards = await Promise.all(streams.map((stream) => openBackwards(bus, stream, options)));
  let found: StoredActivity[] = [];
  let floor: bigint;
  // At least once, or a caller that continues from the cursor would make no progress.
  do {
    const parts = await Promise.all(backwards.map((stream) => stream.next(stretch)));
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

/** Reads the records that match. Most do not, and parsing is expensive, so it compares the text first. */
function readerOf(searched: SearchTarget): ReadRecord {
  const matches = "object" in searched ? isAbout(searched.object) : isOf(searched.trace);
  const name = "object" in searched ? JSON.stringify(searched.object.name) : traceIn(searched.trace);
  const ending =
    "object" in searched ? `.${activity.of(anyScope, searched.object).split(".").at(-1)}` : undefined;
  return (message) => {
    const isNamed = ending !== undefined && message.subject.endsWith(ending);
    const stored = isNamed || message.string().includes(name) ? storedIn(message) : undefined;
    return stored !== undefined && matches(stored) ? stored : undefined;
  };
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
