/** What workers did, read back: records of an object, of a trace, or since a time. */
import type { Bus } from "../connect.ts";
import { parseTrace, traceId } from "../events/trace.ts";
import { type LastValue, readAll, readFrom } from "../lastvalues.ts";
import {
  activity,
  type GroupKind,
  type ObjectKey,
  parseKeySubject,
  type QueueScope,
  streams,
} from "../subjects.ts";
import { type Activity, activityIn } from "./record.ts";

/** A record, and whose it is. */
export interface StoredActivity extends QueueScope {
  readonly key: ObjectKey;
  /** Position in ACTIVITY. */
  readonly sequence: number;
  readonly record: Activity;
}

/** An object of a kind. */
export type ObjectOfKind = GroupKind & ObjectKey;

/** Whose records. */
export interface ActivityPlaces {
  readonly cluster: string;
  /** Of the objects that were reconciled; empty for cluster-scoped ones. */
  readonly namespaces: readonly string[] | "every";
}

/** What is looked for. */
export type Searched = { readonly object: ObjectOfKind } | { readonly trace: string };

const filtersOf = ({ cluster, namespaces }: ActivityPlaces): string[] =>
  namespaces === "every"
    ? [activity.every(cluster)]
    : [...new Set(namespaces)].map((namespace) => activity.every(cluster, namespace));

/** All records since a time, the oldest first within each namespace. What somebody else has put there is left out. */
export async function* activities(
  bus: Pick<Bus, "inbox">,
  places: ActivityPlaces,
  since: Date,
): AsyncGenerator<StoredActivity> {
  for (const filter of filtersOf(places))
    for await (const message of readAll(bus, streams.activity, { filter, from: since })) {
      const found = storedIn(message);
      if (found !== undefined) yield found;
    }
}

/** How much to look at. */
export interface SearchLimits {
  /** Only what lies before this position in ACTIVITY. */
  readonly before?: number | undefined;
  /** Records at the most. */
  readonly limit: number;
  /** No more is begun to be looked at after so long, in milliseconds. */
  readonly millis: number;
}

/** What was found. */
export interface FoundActivity {
  /** The oldest first. */
  readonly found: readonly StoredActivity[];
  /** What lies before this position was not looked at; undefined when there is nothing. */
  readonly before: number | undefined;
}

/** Positions in ACTIVITY that are looked at before it is asked again whether that is enough. */
const stretch = 8192;

/**
 * The newest records that are about an object: it was reconciled, or written to. Or those of a trace, named by its id or a
 * `traceparent`. Nothing on the bus knows where they are, so it is read backwards, from the newest on.
 */
export async function searchActivity(
  bus: Pick<Bus, "inbox" | "jsm">,
  places: ActivityPlaces,
  searched: Searched,
  { before, limit, millis }: SearchLimits,
): Promise<FoundActivity> {
  const { state } = await bus.jsm.streams.info(streams.activity);
  const filters = filtersOf(places);
  const deadline = performance.now() + millis;
  let found: StoredActivity[] = [];
  let from = Math.min(before ?? Number.POSITIVE_INFINITY, state.last_seq + 1);
  // Once in any case, or whoever goes on from here would never get anywhere.
  do {
    const start = Math.min(from, Math.max(state.first_seq, from - stretch));
    const parts = await Promise.all(filters.map((filter) => between(bus, filter, start, from, searched)));
    found = [...parts.flat().sort((a, b) => a.sequence - b.sequence), ...found];
    from = start;
  } while (from > state.first_seq && found.length <= limit && performance.now() < deadline);
  const shown = found.slice(-limit);
  if (shown.length < found.length) return { found: shown, before: shown[0]?.sequence };
  return { found: shown, before: from > state.first_seq ? from : undefined };
}

/** When the record at a position was stored, or the next one: milliseconds since the epoch. */
export async function timeOfActivity(bus: Pick<Bus, "inbox">, sequence: number): Promise<number | undefined> {
  const [message] = await readFrom(bus, streams.activity, {
    filter: activity.everywhere,
    from: sequence,
    limit: 1,
  });
  return message && Date.parse(message.time);
}

async function between(
  bus: Pick<Bus, "inbox">,
  filter: string,
  start: number,
  end: number,
  searched: Searched,
): Promise<StoredActivity[]> {
  const isMeant = "object" in searched ? isAbout(searched.object) : isOf(searched.trace);
  // Most of what is read is something else, and parsing is what costs.
  const name = "object" in searched ? JSON.stringify(searched.object.name) : traceIn(searched.trace);
  const ending =
    "object" in searched ? `.${activity.of(anyScope, searched.object).split(".").at(-1)}` : undefined;
  const found: StoredActivity[] = [];
  for (let next = start; next < end; ) {
    const page = await readFrom(bus, streams.activity, { filter, from: next });
    for (const message of page) {
      if (message.sequence >= end) return found;
      const isNamed = ending !== undefined && message.subject.endsWith(ending);
      const stored = isNamed || message.string().includes(name) ? storedIn(message) : undefined;
      if (stored !== undefined && isMeant(stored)) found.push(stored);
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
    return { ...parseKeySubject(message.subject), sequence: message.sequence, record };
  } catch {
    return undefined;
  }
}
