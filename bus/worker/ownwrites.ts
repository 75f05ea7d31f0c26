/**
 * What this process wrote a moment ago. The object store lags behind the API server by a few milliseconds, and a
 * reconcile must not miss what it, or the one before it in this process, has just written.
 */
import type { Stored } from "../kube/object.ts";
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

interface Kept {
  at: number;
  readonly writes: Map<string, OwnWrite>;
}

/** After so long the store has certainly caught up. Milliseconds. */
const keptMillis = 30_000;
const keptKeys = 5_000;

/** Starts with nothing; keeps the writes of the last seconds. */
export function ownWrites(): OwnWrites {
  // In order of the last write, so the old ones come first.
  const keys = new Map<string, Kept>();

  function touch(text: string): Kept {
    const kept = keys.get(text) ?? { at: 0, writes: new Map() };
    keys.delete(text);
    keys.set(text, kept);
    kept.at = performance.now();
    for (const [old, { at }] of keys) {
      if (at > kept.at - keptMillis && keys.size <= keptKeys) break;
      keys.delete(old);
    }
    return kept;
  }

  return {
    of(key) {
      const text = keyText(key);
      return {
        record(object, deleted) {
          touch(text).writes.set(object.metadata.uid, { object, deleted: deleted !== undefined });
        },
        of: (uid) => keys.get(text)?.writes.get(uid),
        all: () => keys.get(text)?.writes.values() ?? [],
      };
    },
  };
}
