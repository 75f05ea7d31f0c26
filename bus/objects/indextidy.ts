/**
 * Removes stale entries from a function's indexes: of values that an object has lost, and of objects that the bus has
 * forgotten. Also removes watch records of forgotten objects. Lookups ignore all of these, but they would fill the stream that
 * all functions share. Each process checks all entries about once an hour.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Kind } from "../kube/kind.ts";
import { type BusClock, nanosOf } from "../nats/busclock.ts";
import type { Bus } from "../nats/connect.ts";
import { type LastValue, lastValuesOf, readFrom } from "../nats/lastvalues.ts";
import { emptyTtl, replaceLast } from "../queue/replacelast.ts";
import { keyText, type ObjectKey, type QueueScope, streams, indexes as subjects } from "../subjects.ts";
import { ownValue } from "../values/ownvalue.ts";
import { type IndexValues, keptMillis, termOf } from "./indexes.ts";
import { type Entry, isIncomplete, type ObjectStore } from "./store.ts";
import { watched } from "./watchsubjects.ts";

/** Options of the cleanup. */
export interface IndexTidyOptions {
  readonly bus: Pick<Bus, "inbox" | "stuck">;
  readonly scope: QueueScope;
  readonly kind: Kind;
  readonly definitions: Readonly<Record<string, IndexValues>>;
  readonly store: Pick<ObjectStore, "entry">;
  readonly clock: Pick<BusClock, "now">;
  readonly signal: AbortSignal;
  /** Younger entries are kept. Milliseconds. */
  readonly minimumAgeMillis?: number;
}

/** Number of entries checked at once. */
const batch = 100;

/**
 * Removes stale entries of a function and returns their number. Entries are kept for twice as long as a process may assume that
 * they exist ({@link keptMillis}): otherwise that process would not write an entry when the object has the value again.
 */
export async function tidyIndexes(options: IndexTidyOptions): Promise<number> {
  const { bus, scope, kind, definitions, store, clock, signal } = options;
  const { minimumAgeMillis = 2 * keptMillis } = options;

  async function isStale(entry: LastValue, read: (key: ObjectKey) => Promise<Entry | undefined>) {
    if (entry.string() === "" || Date.parse(entry.time) > clock.now() - minimumAgeMillis) return false;
    const { index, value, key } = subjects.parse(entry.subject);
    const object = await read(key);
    if (object === undefined) return true;
    // An unreadable object may have the value. An unchanged one had it, by the writer's definition of the index.
    if (isIncomplete(object) || nanosOf(object.time) < nanosOf(entry.time)) return false;
    if (object.deleted) return true;
    const values = ownValue(definitions, index);
    // An index of another version of the function.
    return values !== undefined && !values(object.object).map(termOf).includes(value);
  }

  /** Reads each object once for all of its entries. */
  function reader(): (key: ObjectKey) => Promise<Entry | undefined> {
    const reads = new Map<string, Promise<Entry | undefined>>();
    return (key) => {
      const text = keyText(key);
      const read = reads.get(text) ?? store.entry(kind, key);
      reads.set(text, read);
      return read;
    };
  }

  return removeStale({ bus, filter: subjects.all(scope), signal }, async (some) => {
    const read = reader();
    const stale = await Promise.all(some.map((entry) => isStale(entry, read)));
    return some.filter((_, at) => stale[at]);
  });
}

/** Removes messages of INDEXES that match the filter and that `staleAmong` returns. Returns their number. */
async function removeStale(
  { bus, filter, signal }: Pick<IndexTidyOptions, "bus" | "signal"> & { readonly filter: string },
  staleAmong: (some: readonly LastValue[]) => Promise<readonly LastValue[]>,
): Promise<number> {
  let removed = 0;
  for (let from = 1; ; ) {
    signal.throwIfAborted();
    const some = await readFrom(bus, streams.indexes, { filter, from, limit: batch });
    const stale = await staleAmong(some);
    const outcomes = await Promise.all(
      stale.map((entry) => replaceLast(bus, entry.subject, entry.sequence, "", emptyTtl, signal)),
    );
    removed += outcomes.filter((outcome) => outcome === "replaced").length;
    const last = some.at(-1);
    if (last === undefined) return removed;
    from = last.sequence + 1;
  }
}

/**
 * Removes watch records of objects that OBJECTS has forgotten, and returns their number. A late event leaves such a record behind,
 * and so does a deletion that no router saw before its tombstone expired.
 */
export async function tidyWatchRecords({
  minimumAgeMillis = 2 * keptMillis,
  ...options
}: Pick<IndexTidyOptions, "bus" | "scope" | "clock" | "signal" | "minimumAgeMillis">): Promise<number> {
  const { bus, scope, clock, signal } = options;
  const lastObjects = lastValuesOf(bus, streams.objects);
  return removeStale({ bus, filter: watched.all(scope), signal }, async (some) => {
    const old = some.filter(
      (record) => record.string() !== "" && Date.parse(record.time) < clock.now() - minimumAgeMillis,
    );
    if (old.length === 0) return [];
    const addresses = new Set(old.map(({ subject }) => watched.objectOf(subject)));
    const known = new Set((await lastObjects(...addresses)).map(({ subject }) => subject));
    return old.filter(({ subject }) => !known.has(watched.objectOf(subject)));
  });
}

/** Approximate interval in milliseconds. */
const everyMillis = 3_600_000;

/** Cleans up indexes and watch records about once an hour until `signal` aborts. Does not reject. */
export async function keepIndexesTidy(
  options: IndexTidyOptions & { readonly onError: (error: unknown) => void },
): Promise<void> {
  const { signal, onError } = options;
  for (;;) {
    const pause = everyMillis * (0.5 + Math.random());
    await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    await Promise.all([tidyIndexes(options), tidyWatchRecords(options)]).catch((error: unknown) => {
      if (!signal.aborted) onError(error);
    });
  }
}
