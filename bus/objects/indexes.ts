/**
 * Indexes of a function's objects, stored on the bus: which objects have a value. With them, a webhook or another object finds
 * the objects it concerns without a list. An entry is a message on its own subject.
 *
 * An object's entries are written *before* its change enqueues it. A later lookup finds the object; an earlier lookup's change
 * is seen by the reconcile that follows. So no change is missed, even if a process dies in between.
 *
 * An entry only means that the object had the value once; the object itself decides whether it still has it. A lookup removes
 * entries of deleted objects that it finds, and {@link "./indextidy.ts"} removes all stale ones.
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

/** The values of an object in an index: none, one, or several. Pure. */
export type IndexValues = (object: Stored) => readonly string[];

/** Finds the objects with a value in an index. Throws a `RangeError` for an index that the function has not declared. */
export type Find = (index: string, value: string) => Promise<readonly ObjectKey[]>;

/** The indexes of one function in one process. */
export interface Indexes {
  /** Writes the object's entries. Resolves when the bus has stored them. */
  keep(key: ObjectKey, object: Stored, signal?: AbortSignal): Promise<void>;
  readonly find: Find;
  /** The bus may have lost entries: write each again with the next event of its object. */
  forget(): void;
}

/** Entries that this process has written are not rewritten for this long, even if the object changes. Milliseconds. */
export const keptMillis = 600_000;
const known = { keptMillis, limit: 50_000 };
/** Number of objects read at once. */
const batch = 100;

/** Longer values are hashed in subjects: the server closes connections that use too long subjects. Characters. */
const longest = 200;

/** The form of a value in a subject. */
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
    // An unreadable object counts as a match; its reconcile decides.
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
      // An empty message is a removed entry.
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
