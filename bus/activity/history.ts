/** What workers did, read back: records of an object, of a trace, or since a time. */
import type { Bus } from "../connect.ts";
import { parseTrace, traceId } from "../events/trace.ts";
import type { LastValue } from "../lastvalues.ts";
import { readAll } from "../lastvalues.ts";
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

/** Where to look. */
export interface ActivityRange {
  readonly cluster: string;
  /** Of the objects that were reconciled; empty for cluster-scoped ones. */
  readonly namespaces: readonly string[] | "every";
  readonly since: Date;
  /** Only what lies before this position in ACTIVITY. */
  readonly before?: number | undefined;
}

/** What is looked for. */
export type Searched = { readonly object: ObjectOfKind } | { readonly trace: string };

/** All records of a range, the oldest first. What somebody else has put there is left out. */
export async function* activities(
  bus: Pick<Bus, "inbox">,
  range: ActivityRange,
  wanted: (text: string, subject: string) => boolean = () => true,
): AsyncGenerator<StoredActivity> {
  const { cluster, namespaces, since, before = Number.POSITIVE_INFINITY } = range;
  const filters =
    namespaces === "every"
      ? [activity.every(cluster)]
      : [...new Set(namespaces)].map((namespace) => activity.every(cluster, namespace));
  for (const filter of filters)
    for await (const message of readAll(bus, streams.activity, { filter, from: since })) {
      if (message.sequence >= before) break;
      const found = wanted(message.string(), message.subject) ? storedIn(message) : undefined;
      if (found !== undefined) yield found;
    }
}

/**
 * The newest records that are about an object: it was reconciled, or written to. Or those of a trace, named by its id or a
 * `traceparent`. The oldest first; `more` when there are older ones.
 */
export async function searchActivity(
  bus: Pick<Bus, "inbox">,
  range: ActivityRange,
  searched: Searched,
  limit: number,
): Promise<{ readonly found: readonly StoredActivity[]; readonly more: boolean }> {
  const isMeant = "object" in searched ? isAbout(searched.object) : isOf(searched.trace);
  // Most of what is read is something else, and parsing is what costs.
  const name = "object" in searched ? JSON.stringify(searched.object.name) : traceIn(searched.trace);
  const ending = "object" in searched ? activity.of(anyScope, searched.object).split(".").at(-1) : undefined;
  const found: StoredActivity[] = [];
  for await (const one of activities(
    bus,
    range,
    (text, subject) => (ending !== undefined && subject.endsWith(`.${ending}`)) || text.includes(name),
  ))
    if (isMeant(one)) found.push(one);
  found.sort((a, b) => a.sequence - b.sequence);
  return { found: found.slice(-limit), more: found.length > limit };
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
