/**
 * The object store: the latest version of every watched object, read from OBJECTS. One shared informer cache for all
 * functions and all replicas, so a worker keeps nothing in memory.
 */
import type { StoredMsg } from "@nats-io/jetstream";
import type { Bus } from "../connect.ts";
import { attribute } from "../events/binding.ts";
import { isDeletion, versionOf } from "../events/kubernetes.ts";
import type { Kind } from "../kube/kind.ts";
import { compareVersions, type KubeObject, type Stored } from "../kube/object.ts";
import {
  childrenSubjects,
  familySubjects,
  kindSubjects,
  type ObjectKey,
  objectByName,
  streams,
  token,
} from "../subjects.ts";
import { type LastValue, lastValuesOf } from "./lastvalues.ts";

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
  /**
   * An object by name and the children of every kind that it controls, in one read. Undefined when they are too many for
   * that.
   */
  family<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, uid: string): Promise<Family<T> | undefined>;
  /** Every entry of a kind, optionally of one namespace, tombstones included. */
  entries<T extends KubeObject>(kind: Kind<T>, namespace?: string): Promise<Entry<T>[]>;
}

/** The server answers at most so many subjects to one multi-subject read. */
const maxSubjects = 1024;

/** Opens the object store of a cluster. */
export function objectStore({ nc, jsm }: Pick<Bus, "nc" | "jsm">, cluster: string): ObjectStore {
  const lastValues = lastValuesOf(nc, streams.objects);

  /** Last message of every subject that matches. */
  async function read<T extends KubeObject>(filter: string): Promise<Entry<T>[]> {
    const found = await lastValues(filter);
    return found === "too many" ? readPages(filter) : found.map((value) => entryOf<T>(value));
  }

  async function readPages<T extends KubeObject>(filter: string): Promise<Entry<T>[]> {
    const entries: Entry<T>[] = [];
    for (let seq = 1; ; seq = (entries.at(-1)?.sequence ?? 0) + 1) {
      const before = entries.length;
      try {
        const page = await jsm.direct.getBatch(streams.objects, {
          seq,
          next_by_subj: filter,
          batch: maxSubjects,
        });
        for await (const message of page) entries.push(entryOf<T>(directValue(message)));
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      if (entries.length - before < maxSubjects) return entries;
    }
  }

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
      if (found === "too many") return undefined;
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
    object: value.json<Stored<T>>(),
    deleted: isDeletion(attribute(value.headers, "type")),
    uid: version?.uid ?? "",
    resourceVersion: version?.resourceVersion ?? "0",
    subject: value.subject,
    sequence: value.sequence,
  };
}

const directValue = (message: StoredMsg): LastValue => ({
  subject: message.subject,
  sequence: message.seq,
  headers: message.header,
  json: <T>() => message.json<T>(),
});

const isNotFound = (error: unknown): boolean => (error as { code?: unknown } | undefined)?.code === 404;
