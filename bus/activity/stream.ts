/** Reads a function's stream of activity records, from a position on or backwards. */
import { JetStreamApiError, type StreamState } from "@nats-io/jetstream";
import { nanosOf } from "../nats/busclock.ts";
import type { Bus } from "../nats/connect.ts";
import { type LastValue, readFrom, type Start } from "../nats/lastvalues.ts";
import { activity, activityStream, type ObjectKey, parseKeySubject, type QueueScope } from "../subjects.ts";
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

/** The streams and namespaces of a search. */
export interface ActivityScope {
  readonly cluster: string;
  /** Functions whose streams are read. */
  readonly functions: readonly string[];
  /** Namespaces of the reconciled objects; an empty string for cluster-scoped objects. */
  readonly namespaces: readonly string[] | "every";
}

/** The subjects of a search. No two match the same record. */
export const filtersOf = ({ cluster, namespaces }: ActivityScope): string[] =>
  namespaces === "every"
    ? [activity.every(cluster)]
    : [...new Set(namespaces)].map((namespace) => activity.every(cluster, namespace));

/** Reads a message, or returns undefined to skip it. */
export type ReadRecord = (message: LastValue) => StoredActivity | undefined;

/** Reads a stream backwards from its newest record. */
export interface BackwardReader {
  /** Reads the part before, of so many positions. */
  next(positions: number): Promise<StoredActivity[]>;
  /** All records from this time on were read; 0 when the whole stream was. Nanoseconds since the epoch. */
  floor(): bigint;
}

/** Starts before a time, in nanoseconds since the epoch. */
export async function openBackwards(
  bus: Pick<Bus, "inbox">,
  { fn, state }: ActivityStream,
  { filters, before, read }: { filters: readonly string[]; before: bigint | undefined; read: ReadRecord },
): Promise<BackwardReader> {
  const stream = activityStream(fn);
  const at = async (from: Start): Promise<LastValue | undefined> =>
    (await readFrom(bus, stream, { filter: activity.everywhere(fn), from, limit: 1 }))[0];
  const end = before === undefined ? undefined : await at(textOfNanos(before));
  let from = end?.sequence ?? state.last_seq + 1;
  let floor = 0n;
  return {
    floor: () => floor,
    async next(positions) {
      if (from <= state.first_seq) {
        floor = 0n;
        return [];
      }
      const start = Math.max(state.first_seq, from - positions);
      const parts = await Promise.all(
        filters.map((filter) => between(bus, { stream, filter, start, end: from }, read)),
      );
      from = start;
      const first = start > state.first_seq ? await at(start) : undefined;
      floor = first === undefined ? 0n : nanosOf(first.time);
      return parts.flat();
    },
  };
}

/** The stream of a function. */
export interface ActivityStream {
  readonly fn: string;
  readonly state: StreamState;
}

/** The streams of those functions that are installed. */
export async function activityStreams(
  bus: Pick<Bus, "jsm">,
  functions: readonly string[],
): Promise<readonly ActivityStream[]> {
  const found = await Promise.all(
    functions.map(async (fn) => ({ fn, state: await stateOf(bus, activityStream(fn)) })),
  );
  return found.flatMap(({ fn, state }) => (state === undefined ? [] : [{ fn, state }]));
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
export const textOfNanos = (nanos: bigint): string => {
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
  read: ReadRecord,
): Promise<StoredActivity[]> {
  const found: StoredActivity[] = [];
  for (let next = start; next < end; ) {
    const page = await readFrom(bus, stream, { filter, from: next });
    for (const message of page) {
      if (message.sequence >= end) return found;
      const stored = read(message);
      if (stored !== undefined) found.push(stored);
    }
    const last = page.at(-1);
    if (last === undefined) return found;
    next = last.sequence + 1;
  }
  return found;
}

/** Parses a stored record; undefined if the message is none. */
export function storedIn(message: LastValue): StoredActivity | undefined {
  const record = activityIn(message.string());
  if (record === undefined) return undefined;
  try {
    const { sequence, time } = message;
    return { ...parseKeySubject(message.subject), sequence, storedAt: nanosOf(time), record };
  } catch {
    return undefined;
  }
}
