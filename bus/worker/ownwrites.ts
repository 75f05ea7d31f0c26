/**
 * What this process wrote a moment ago. The object store lags behind the API server by a few milliseconds, and a
 * reconcile must not miss what it, or the one before it in this process, has just written.
 */
import type { Stored } from "../kube/object.ts";
import { Recent } from "../recent.ts";
import { keyText, type ObjectKey } from "../subjects.ts";

/** One object as the last write of this process left it. */
export interface OwnWrite {
  readonly object: Stored;
  readonly deleted: boolean;
}

/** The writes that reconciles of one key made. */
export interface WritesOfKey {
  record(object: Stored, deleted?: "deleted"): void;
  of(uid: string): OwnWrite | undefined;
  all(): Iterable<OwnWrite>;
}

/** Writes of one function in this process, by key. */
export interface OwnWrites {
  of(key: ObjectKey): WritesOfKey;
}

/** After so long the store has certainly caught up. Milliseconds. */
const keptMillis = 30_000;
const keptKeys = 5_000;

/** Starts with nothing; keeps the writes of the last seconds. */
export function ownWrites(): OwnWrites {
  const keys = new Recent<Map<string, OwnWrite>>({ keptMillis, limit: keptKeys });
  return {
    of(key) {
      const text = keyText(key);
      return {
        record(object, deleted) {
          const writes = keys.get(text) ?? new Map<string, OwnWrite>();
          writes.set(object.metadata.uid, { object, deleted: deleted !== undefined });
          keys.set(text, writes);
        },
        of: (uid) => keys.get(text)?.get(uid),
        all: () => keys.get(text)?.values() ?? [],
      };
    },
  };
}
