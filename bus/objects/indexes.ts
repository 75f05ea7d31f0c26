/**
 * Indexes of a function's objects, on the bus: which objects have a value, so that a webhook, or another object, finds those
 * it is about without anybody listing all. An entry is a message on a subject of its own.
 *
 * An object's entries are written *before* its change wakes it. What is looked up later finds it; what was looked up before
 * is seen by the reconcile that follows. So nothing falls between, whatever dies in the middle.
 *
 * An entry only says that an object had the value once; the object itself decides whether it still has it. A lookup removes entries
 * of deleted objects that it finds, and {@link "./indextidy.ts"} removes all that are stale.
 */
import { createHash } from "node:crypto";
import type { Kind } from "../kube/kind.ts";
import type { Stored } from "../kube/object.ts";
import type { Bus } from "../nats/connect.ts";
import { type LastValue, lastValuesOf } from "../nats/lastvalues.ts";
import { publishUntilAnswered } from "../queue/publish.ts";
import { emptyTtl, replaceLast } from "../queue/replacelast.ts";
import { keyText, type ObjectKey, type QueueScope, streams, indexes as subjects } from "../subjects.ts";
import { ownValue } from "../values/ownvalue.ts";
import { Recent } from "../values/recent.ts";
import { isIncomplete, type ObjectStore } from "./store.ts";

/** The values that an object has in an index: none, one or several. Pure. */
export type IndexValues = (object: Stored) => readonly string[];

/** The objects that have a value in an index. Throws a `RangeError` for an index that the function has not declared. */
export type Find = (index: string, value: string) => Promise<readonly ObjectKey[]>;

/** The indexes of one function in one process. */
export interface Indexes {
  /** Sees to it that the object is found. Resolves when the bus has it all. */
  keep(key: ObjectKey, object: Stored, signal?: AbortSignal): Promise<void>;
  readonly find: Find;
  /** The bus may have lost entries: each is written again with the next event of its object. */
  forget(): void;
}

/** Entries that this process has written are not written again with each change of the object for so long. Milliseconds. */
export const keptMillis = 600_000;
const known = { keptMillis, limit: 50_000 };
/** So many objects are asked for at once. */
const batch = 100;

/** Values that are longer are not in subjects: where these are too long, the server breaks the connection. Characters. */
const longest = 200;

/** What stands for a value in a subject. */
export const termOf = (value: string): string =>
  value.length <= longest ? value : `sha256:${createHash("sha256").update(value).digest("hex")}`;

/** Opens indexes by their names. */
export function openIndexes(
  bus: Pick<Bus, "inbox" | "stuck">,
  scope: QueueScope,
  kind: Kind,
  definitions: Readonly<Record<string, IndexValues>>,
  store: ObjectStore,
): Indexes {
  const written = new Recent<true>(known);
  let losses = 0;
  const lastValues = lastValuesOf(bus, streams.indexes);

  async function write(subject: string, uid: string, signal: AbortSignal | undefined): Promise<void> {
    const entry = `${uid} ${subject}`;
    if (written.get(entry)) return;
    const before = losses;
    await publishUntilAnswered(bus, subject, uid, { signal });
    if (losses === before) written.set(entry, true);
  }

  /** Whether the object of an entry has the value now. */
  async function has(entry: LastValue, key: ObjectKey, values: IndexValues, value: string): Promise<boolean> {
    const found = await store.entry(kind, key);
    // Who can not be read decides for itself.
    if (found && isIncomplete(found)) return true;
    if (found !== undefined && !found.deleted) return values(found.object).includes(value);
    if (found?.uid === entry.string()) await replaceLast(bus, entry.subject, entry.sequence, "", emptyTtl);
    return false;
  }

  return {
    forget() {
      losses++;
      written.clear();
    },
    async keep(key, object, signal) {
      const wanted = Object.entries(definitions).flatMap(([index, values]) =>
        [...new Set(values(object))].map((value) => subjects.entry(scope, index, termOf(value), key)),
      );
      await Promise.all(wanted.map((subject) => write(subject, object.metadata.uid, signal)));
    },
    async find(index, value) {
      const values = ownValue(definitions, index);
      if (values === undefined)
        throw new RangeError(
          `expected an index of ${scope.fn} (${Object.keys(definitions).join(", ") || "it has none"}), found "${index}"`,
        );
      // An empty message stands for an entry that was taken away.
      const entries = (await lastValues(subjects.having(scope, index, termOf(value)))).filter(
        (entry) => entry.string() !== "",
      );
      const keys = new Map<string, ObjectKey>();
      for (let at = 0; at < entries.length; at += batch) {
        await Promise.all(
          entries.slice(at, at + batch).map(async (entry) => {
            const key = subjects.parse(entry.subject).key;
            if (await has(entry, key, values, value)) keys.set(keyText(key), key);
          }),
        );
      }
      return [...keys.values()];
    },
  };
}
