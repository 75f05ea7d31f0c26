/**
 * Recent writes of this process. The object store lags behind the API server by a few milliseconds, and a reconcile must see its
 * own writes and those of the reconcile before it.
 */
import type { Stored } from "../kube/object.ts";
import { keyText, type ObjectKey } from "../subjects.ts";
import { Recent } from "../values/recent.ts";

/** An object after the last write of this process. */
export interface OwnWrite {
  readonly object: Stored;
  readonly deleted: boolean;
}

/** The writes that reconciles of one key have made. */
export interface WritesOfKey {
  record(object: Stored, deleted?: "deleted"): void;
  of(uid: string): OwnWrite | undefined;
  all(): Iterable<OwnWrite>;
  /** Remembers the result of applying the desired state with this digest. */
  recordOutcome(object: Stored, digest: string): void;
  /** Whether this version is the result of applying that state: another apply would change nothing, even if it looks different. */
  isOutcome(object: Stored, digest: string): boolean;
}

/** Writes of one function in this process, by key. */
export interface OwnWrites {
  of(key: ObjectKey): WritesOfKey;
}

/** After this time the store has certainly caught up. Milliseconds. */
const keptMillis = 30_000;
const keptKeys = 5_000;
/** Results never become stale; the limits only bound memory. */
const outcomes = { keptMillis: 3_600_000, limit: 20_000 };

/** Creates an empty store of recent writes. */
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
