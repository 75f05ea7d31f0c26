/**
 * The object store: the latest version of every watched object, read from OBJECTS. It is one shared informer cache for all
 * functions and replicas, so a worker keeps nothing in memory.
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

/** The stored entry of one subject. The last known state of a deleted object is kept for some days. */
export interface Entry<T extends KubeObject = KubeObject> {
  readonly object: Stored<T>;
  readonly deleted: boolean;
  readonly uid: string;
  /** Version of the object, or of its deletion. */
  readonly resourceVersion: string;
  readonly subject: string;
  /** Position in OBJECTS. */
  readonly sequence: number;
  /** Time of the publish: RFC 3339, by the bus's clock. */
  readonly time: string;
  /** The bus has only a part of the object, because it does not fit into a message. The API server has all of it. */
  readonly partial: boolean;
  /**
   * Set if another client than the bridge wrote the message. The subject identifies the object, and `object` has only this
   * identity. Readers get the object from the API server.
   */
  readonly unreadable?: MalformedEventError;
}

/** An object and its children, tombstones included. */
export interface Family<T extends KubeObject = KubeObject> {
  readonly entry: Entry<T> | undefined;
  readonly children: readonly Entry[];
}

/** Reads of one cluster's objects. Results may lag slightly behind the API server. */
export interface ObjectStore {
  /** The entry of one object by name, including tombstones; undefined if the bus never had it or forgot it. */
  entry<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<Entry<T> | undefined>;
  /** Entries of the objects of a kind that the owner controls, including tombstones, in no order. */
  childEntries<T extends KubeObject>(kind: Kind<T>, owner: Stored): Promise<Entry<T>[]>;
  /** An object by name and its controlled children of every kind, in one read. */
  family<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, uid: string): Promise<Family<T>>;
  /** Every entry of a kind, optionally in one namespace, including tombstones. */
  entries<T extends KubeObject>(kind: Kind<T>, namespace?: string): Promise<Entry<T>[]>;
}

/** Opens the object store of a cluster. */
export function objectStore(bus: Pick<Bus, "inbox">, cluster: string): ObjectStore {
  const lastValues = lastValuesOf(bus, streams.objects);

  /** Last message of every matching subject. */
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

/** Whether the entry lacks the object, so that a reader has to get it from the API server. */
export const isIncomplete = ({ unreadable, partial, deleted }: Entry): boolean =>
  unreadable !== undefined || (partial && !deleted);

/** The complete, existing objects among entries. */
export const living = <T extends KubeObject>(entries: readonly Entry<T>[]): Stored<T>[] =>
  entries.filter((entry) => !entry.deleted && !isIncomplete(entry)).map((entry) => entry.object);

/** The newest of several entries of one name. */
export function newestEntry<T extends KubeObject>(entries: readonly Entry<T>[]): Entry<T> | undefined {
  let best: Entry<T> | undefined;
  for (const entry of entries) {
    // An unreadable entry may be the newest.
    if (entry.unreadable) return entry;
    const order = best ? compareVersions(entry.resourceVersion, best.resourceVersion) : 1;
    // A moved object left a tombstone of the same version behind.
    if (order > 0 || (order === 0 && best?.deleted)) best = entry;
  }
  return best;
}

/** The entry of a message; undefined for a subject that no object can have. */
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
