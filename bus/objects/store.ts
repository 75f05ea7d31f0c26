/**
 * The object store: the latest version of every watched object, read from OBJECTS. One shared informer cache for all
 * functions and all replicas, so a worker keeps nothing in memory.
 */

import { addressIn, changedObject, changeHead, MalformedEventError } from "../events/received.ts";
import { apiVersionOf, type Kind } from "../kube/kind.ts";
import { compareVersions, type KubeObject, type Stored } from "../kube/object.ts";
import type { Bus } from "../nats/connect.ts";
import { type LastValue, lastValuesOf } from "../nats/lastvalues.ts";
import {
  childrenSubjects,
  familySubjects,
  kindSubjects,
  type ObjectKey,
  objectByName,
  streams,
  token,
} from "../subjects.ts";

/**
 * What the store holds for one subject. Of a deleted object the last known state is kept for some days.
 */
export interface Entry<T extends KubeObject = KubeObject> {
  readonly object: Stored<T>;
  readonly deleted: boolean;
  readonly uid: string;
  /** Of the object, or of its deletion. */
  readonly resourceVersion: string;
  readonly subject: string;
  /** Position in OBJECTS. */
  readonly sequence: number;
  /** When it was published: RFC 3339, by the bus's clock. */
  readonly time: string;
  /** The bus has only a part of the object, because it does not fit into a message: the API server has it. */
  readonly partial: boolean;
  /**
   * Set where somebody else than the bridge has written: what the entry is about is known from its subject, and `object`
   * has no more than that. Whoever needs it asks the API server.
   */
  readonly unreadable?: MalformedEventError;
}

/** An object and its children, tombstones included. */
export interface Family<T extends KubeObject = KubeObject> {
  readonly entry: Entry<T> | undefined;
  readonly children: readonly Entry[];
}

/** Reads of one cluster's objects. Answers may be a moment behind the API server. */
export interface ObjectStore {
  /** The entry of one object by name, tombstones included; undefined when the bus never saw it or forgot it. */
  entry<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<Entry<T> | undefined>;
  /** Entries of the objects of a kind that the owner controls, tombstones included, in no order. */
  childEntries<T extends KubeObject>(kind: Kind<T>, owner: Stored): Promise<Entry<T>[]>;
  /** An object by name and the children of every kind that it controls, in one read. */
  family<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, uid: string): Promise<Family<T>>;
  /** Every entry of a kind, optionally of one namespace, tombstones included. */
  entries<T extends KubeObject>(kind: Kind<T>, namespace?: string): Promise<Entry<T>[]>;
}

/** Opens the object store of a cluster. */
export function objectStore(bus: Pick<Bus, "inbox">, cluster: string): ObjectStore {
  const lastValues = lastValuesOf(bus, streams.objects);

  /** Last message of every subject that matches. */
  const read = async <T extends KubeObject>(filter: string): Promise<Entry<T>[]> =>
    (await lastValues(filter)).flatMap((value) => entryOf<T>(value));

  return {
    async entry(kind, key) {
      // An object that changed its controller has a tombstone at its old address: the newest version counts.
      return newestEntry(await read(objectByName(cluster, kind, key)));
    },
    childEntries: (kind, owner) =>
      read(childrenSubjects(cluster, kind, owner.metadata.namespace ?? "", owner.metadata.uid)),
    async family<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, uid: string) {
      const found = await lastValues(
        objectByName(cluster, kind, key),
        familySubjects(cluster, key.namespace, uid),
      );
      const owner = `.${token(uid)}.`;
      const self: Entry<T>[] = [];
      const children: Entry[] = [];
      for (const value of found) {
        if (value.subject.includes(owner)) children.push(...entryOf(value));
        else self.push(...entryOf<T>(value));
      }
      return { entry: newestEntry(self), children };
    },
    entries: (kind, namespace) => read(kindSubjects(cluster, kind, namespace)),
  };
}

/** The entry lacks the object, so a reader has to get it from the API server. */
export const isIncomplete = ({ unreadable, partial, deleted }: Entry): boolean =>
  unreadable !== undefined || (partial && !deleted);

/** The objects among entries: what is not deleted, and is there as a whole. */
export const living = <T extends KubeObject>(entries: readonly Entry<T>[]): Stored<T>[] =>
  entries.filter((entry) => !entry.deleted && !isIncomplete(entry)).map((entry) => entry.object);

/** Of entries of one name the newest. */
export function newestEntry<T extends KubeObject>(entries: readonly Entry<T>[]): Entry<T> | undefined {
  let best: Entry<T> | undefined;
  for (const entry of entries) {
    // Whether it is the newest nobody can tell.
    if (entry.unreadable) return entry;
    const order = best ? compareVersions(entry.resourceVersion, best.resourceVersion) : 1;
    // An object that moved left a tombstone of the same version behind.
    if (order > 0 || (order === 0 && best?.deleted)) best = entry;
  }
  return best;
}

/** The entry of a message; none where no object can be. */
function entryOf<T extends KubeObject>(value: LastValue): Entry<T>[] {
  const { subject, sequence, time } = value;
  try {
    const object = changedObject<T>(value.string());
    return [{ ...changeHead(value.headers), object, subject, sequence, time }];
  } catch (error) {
    if (error instanceof MalformedEventError) return unreadable(value, error);
    throw error;
  }
}

function unreadable<T extends KubeObject>(
  { subject, sequence, time }: LastValue,
  error: MalformedEventError,
): Entry<T>[] {
  try {
    const { group, kind, namespace, name } = addressIn(subject);
    const id = { uid: "", resourceVersion: "0", partial: false };
    const apiVersion = apiVersionOf({ group, version: "unknown" });
    const object = { apiVersion, kind, metadata: { namespace, name, ...id } } as unknown as Stored<T>;
    return [{ ...id, object, deleted: false, subject, sequence, time, unreadable: error }];
  } catch {
    // No object has such an address.
    return [];
  }
}
