/** Routes changes of watched objects: which keys they request, and what the records of filtered watches say afterwards. */
import { isPathSegment, type Stored } from "../kube/object.ts";
import type { Find } from "../objects/indexes.ts";
import {
  judge,
  maxKeys,
  type StoredWatchRecord,
  type Verdict,
  type WatchedVersion,
  type WatchRecord,
  type WatchRecords,
} from "../objects/watchrecords.ts";
import { keyText, type ObjectAddress, type ObjectKey } from "../subjects.ts";
import type { ObjectEvent } from "./objectevent.ts";
import { declarationOf, type FilteredWatch, isSelected, projectionOf, type Watch } from "./watch.ts";

/**
 * The keys of an unfiltered watch. `object` is undefined if the event has only a part of it and the rest no longer exists. Then
 * a watch that needs more enqueues nothing.
 */
export async function keysOfWatch(
  watch: Watch,
  event: ObjectEvent,
  object: Stored | undefined,
  find: Find,
): Promise<readonly ObjectKey[]> {
  if (object !== undefined) return watch.keys(object, find);
  if (!event.deleted) return [];
  return keysOrNone(watch, event.object(), find);
}

/** For an object that lacks what the watch may read, such as the label that it matched by. */
async function keysOrNone(watch: Watch, object: Stored, find: Find): Promise<readonly ObjectKey[]> {
  try {
    const keys = await watch.keys(object, find);
    return keys.filter(({ namespace, name }) => isPathSegment(name) && typeof namespace === "string");
  } catch (error) {
    if (error instanceof TypeError) return [];
    throw error;
  }
}

/** What follows from an event for a filtered watch: keys to request, and then a change of the record. */
export interface WatchOutcome {
  readonly filtered: FilteredWatch;
  readonly keys: readonly ObjectKey[];
  readonly change: Verdict["record"];
  /** The record to store; undefined when it is kept or removed. */
  readonly record: WatchRecord | undefined;
  /** Of the record that was read. */
  readonly revision: number;
}

/** Judges an event by the record of a filtered watch. */
export async function outcomeOf(
  filtered: FilteredWatch,
  event: ObjectEvent,
  object: Stored | undefined,
  { record, revision }: StoredWatchRecord,
  find: Find,
): Promise<WatchOutcome> {
  const { watch } = filtered;
  // The rest of an oversized object no longer exists: its deletion follows.
  if (object === undefined && !event.deleted)
    return { filtered, revision, keys: [], change: "keep", record: undefined };
  const seen = versionSeen(watch, event, object ?? event.object());
  const { requests, record: change } = judge(record, seen);
  const before = record?.keys ?? [];
  const now = requests ? await keysFor(watch, event, object, seen, find) : before;
  const isStored = change === "enter" || change === "replace";
  return {
    ...{ filtered, revision, change },
    keys: requests ? union(now, before) : [],
    record: isStored ? recordOf(seen, union(now)) : undefined,
  };
}

const recordOf = (
  { declaration, sequence, resourceVersion, projection }: WatchedVersion,
  keys: readonly ObjectKey[],
): WatchRecord => ({
  ...{ declaration, sequence, resourceVersion, projection },
  keys: keys.length > maxKeys ? [] : keys,
});

const keysFor = (
  watch: Watch,
  event: ObjectEvent,
  object: Stored | undefined,
  { matches }: WatchedVersion,
  find: Find,
): Promise<readonly ObjectKey[]> =>
  matches ? keysOfWatch(watch, event, object, find) : keysOrNone(watch, object ?? event.object(), find);

function versionSeen(watch: Watch, event: ObjectEvent, object: Stored): WatchedVersion {
  const { sequence, previous, resourceVersion, deleted } = event;
  const matches = isSelected(watch, object);
  // The object was read from the API server, and has changed since the event. A version in between may differ.
  const isNewer = !deleted && object.metadata.resourceVersion !== resourceVersion;
  const isCompared = matches && !deleted && !isNewer;
  return {
    ...{ sequence, previous, resourceVersion, deleted, matches },
    declaration: declarationOf(watch),
    projection: isCompared ? projectionOf(watch, object) : undefined,
  };
}

const union = (...lists: readonly (readonly ObjectKey[])[]): ObjectKey[] => [
  ...new Map(
    lists.flat().map(({ namespace, name }) => [keyText({ namespace, name }), { namespace, name }]),
  ).values(),
];

/** Changes the records of an event's filtered watches, before and after its requests. */
export class RecordChanges {
  readonly #at: ObjectAddress;
  readonly #replace: WatchRecords["replace"];
  readonly #outcomes: readonly WatchOutcome[];
  /** Revisions of first records. */
  readonly #entered = new Map<WatchOutcome, number | undefined>();

  constructor(at: ObjectAddress, replace: WatchRecords["replace"], outcomes: readonly WatchOutcome[]) {
    this.#at = at;
    this.#replace = replace;
    this.#outcomes = outcomes;
  }

  /** Before the requests: stores first records, without a projection. */
  async enter(): Promise<void> {
    for (const outcome of this.#outcomes) {
      const { filtered, change, record, revision } = outcome;
      if (change !== "enter" || record === undefined) continue;
      const { projection: _unknown, ...entering } = record;
      this.#entered.set(outcome, await this.#replace(this.#at, filtered.ordinal, revision, entering));
    }
  }

  /** After the requests. Returns the watches whose record another replica has changed meanwhile: they must be judged again. */
  async finish(): Promise<FilteredWatch[]> {
    const overtaken: FilteredWatch[] = [];
    for (const outcome of this.#outcomes) {
      const { filtered, change, record } = outcome;
      if (change === "keep") continue;
      const revision = change === "enter" ? this.#entered.get(outcome) : outcome.revision;
      const stored =
        revision === undefined
          ? undefined
          : await this.#replace(this.#at, filtered.ordinal, revision, record);
      if (stored === undefined) overtaken.push(filtered);
    }
    return overtaken;
  }
}
