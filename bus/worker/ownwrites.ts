/**
 * What this process wrote a moment ago. The object store lags behind the API server by a few milliseconds, and a
 * reconcile must not miss what it, or the one before it in this process, has just written.
 */
import type { Stored } from "../kube/object.ts";
import { keyText, type ObjectKey } from "../subjects.ts";
import { Recent } from "../values/recent.ts";

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
  /** Remembers what has come of applying what the digest stands for. */
  recordOutcome(object: Stored, digest: string): void;
  /** Whether this version came of that: applying it once more would change nothing, however it looks. */
  isOutcome(object: Stored, digest: string): boolean;
}

/** Writes of one function in this process, by key. */
export interface OwnWrites {
  of(key: ObjectKey): WritesOfKey;
}

/** After so long the store has certainly caught up. Milliseconds. */
const keptMillis = 30_000;
const keptKeys = 5_000;
/** A version stays what it came of; this is about memory alone. */
const outcomes = { keptMillis: 3_600_000, limit: 20_000 };

/** Starts with nothing; keeps the writes of the last seconds. */
export function ownWrites(): OwnWrites {
  const keys = new Recent<Map<string, OwnWrite>>({ keptMillis, limit: keptKeys });
  const applied = new Recent<string>(outcomes);
  const outcome = ({ metadata: { resourceVersion } }: Stored, digest: string) =>
    `${resourceVersion} ${digest}`;
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
        recordOutcome(object, digest) {
          applied.set(object.metadata.uid, outcome(object, digest));
        },
        isOutcome: (object, digest) => applied.get(object.metadata.uid) === outcome(object, digest),
      };
    },
  };
}
