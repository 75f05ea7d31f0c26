/**
 * The object store: the latest version of every watched object, read from OBJECTS. One shared informer cache for all
 * functions and all replicas, so a worker keeps nothing in memory.
 */
import type { Bus } from "../connect.ts";
import { attribute, isDeletion, versionOf } from "../events/attributes.ts";
import type { Kind } from "../kube/kind.ts";
import { compareVersions, type KubeObject, type Stored } from "../kube/object.ts";
import { type LastValue, lastValuesOf } from "../lastvalues.ts";
import {
  childrenSubjects,
  familySubjects,
  kindSubjects,
  type ObjectKey,
  objectByName,
  streams,
  token,
} from "../subjects.ts";

/** What the store holds for one subject. Of a deleted object the last known state is kept for some days. */
export interface Entry<T extends KubeObject = KubeObject> {
  readonly object: Stored<T>;
  readonly deleted: boolean;
  readonly uid: string;
  /** Of the object, or of its deletion. */
  readonly resourceVersion: string;
  readonly subject: string;
  /** Position in OBJECTS. */
  readonly sequence: number;
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
    (await lastValues(filter)).map((value) => entryOf<T>(value));

  return {
    async entry(kind, key) {
      // An object that changed its controller has a tombstone at its old address: the newest version counts.
      return newest(await read(objectByName(cluster, kind, key)));
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
        if (value.subject.includes(owner)) children.push(entryOf(value));
        else self.push(entryOf<T>(value));
      }
      return { entry: newest(self), children };
    },
    entries: (kind, namespace) => read(kindSubjects(cluster, kind, namespace)),
  };
}

/** The objects among entries: what is not deleted. */
export const living = <T extends KubeObject>(entries: readonly Entry<T>[]): Stored<T>[] =>
  entries.filter((entry) => !entry.deleted).map((entry) => entry.object);

function newest<T extends KubeObject>(entries: Entry<T>[]): Entry<T> | undefined {
  let best: Entry<T> | undefined;
  for (const entry of entries) {
    const order = best ? compareVersions(entry.resourceVersion, best.resourceVersion) : 1;
    // An object that moved left a tombstone of the same version behind.
    if (order > 0 || (order === 0 && best?.deleted)) best = entry;
  }
  return best;
}

function entryOf<T extends KubeObject>(value: LastValue): Entry<T> {
  const version = versionOf(attribute(value.headers, "id"));
  return {
    object: JSON.parse(value.string()) as Stored<T>,
    deleted: isDeletion(attribute(value.headers, "type")),
    uid: version?.uid ?? "",
    resourceVersion: version?.resourceVersion ?? "0",
    subject: value.subject,
    sequence: value.sequence,
  };
}
