/**
 * Which versions a reconcile has seen. An event is old news to it only if all its decisions used that version or a newer one.
 * So of an object that is read more than once the oldest version counts, mostly the first; but the store may be behind the API
 * server, and children that came along with the first read behind both. An object that one of the reads has not found, earlier
 * or from an older state, does not count at all: its event is to wake the key again.
 */
import type { ObjectName } from "../kube/client.ts";
import type { Kind } from "../kube/kind.ts";
import { compareVersions, type KubeObject, type ObjectVersion } from "../kube/object.ts";

/** A version of an object. Its owner references tell in which collections it is. */
export type Version = ObjectVersion & ObjectName & Pick<KubeObject["metadata"], "ownerReferences">;

/** What is read together: the objects of a kind that an owner controls, or those of a namespace. */
export type Collection = `of ${string}` | `in ${string}`;

/** Where a read comes from: the API server's state is never older than that of an earlier read, the store's may be. */
export type ReadSource = "store" | "server";

/** Notes what a reconcile reads and writes. */
export interface SeenVersions {
  /**
   * A version that was written, over another one if that is known. `overtaken`: the write replaced a version that is newer than
   * the first one that was read, so the object has a change that some decisions did not use.
   */
  wrote(uid: string, resourceVersion: string, over?: string): "seen" | "overtaken";
  /** An object that was taken for absent: what was decided before it was found did not use it. */
  foundLate(uid: string): void;
  /** A read by name: the version that it found, if any, of an object that exists or is gone. */
  read(
    kind: Kind,
    at: ObjectName,
    version: Version | undefined,
    state: "exists" | "gone",
    source: ReadSource,
  ): void;
  /** All that was read of a collection, including what is gone. */
  readAll(kind: Kind, collection: Collection, versions: readonly Version[], source: ReadSource): void;
}

/** Fills a map by uid: the oldest version that was read, or the last one that was written. */
export function seenVersions(seen: Map<string, string>): SeenVersions {
  /** Addresses at which nothing was found, and collections that were read. An object that a later read finds there was missed. */
  const looked = new Set<string>();
  const late = new Set<string>();
  /** By uid, of what was read and not written since: where a read finds it. */
  const placesOf = new Map<string, readonly string[]>();
  const addressOf = ({ group, kind }: Kind, { namespace = "", name }: ObjectName) =>
    `${group} ${kind} at ${namespace} ${name}`;
  const collectionOf = ({ group, kind }: Kind, collection: Collection) => `${group} ${kind} ${collection}`;

  function note(kind: Kind, version: Version, collections: readonly Collection[]): void {
    const { uid, resourceVersion } = version;
    const before = seen.get(uid);
    if (before !== undefined) {
      if (placesOf.has(uid) && compareVersions(resourceVersion, before) < 0) seen.set(uid, resourceVersion);
      return;
    }
    const places = [addressOf(kind, version), ...collections.map((name) => collectionOf(kind, name))];
    if (places.some((place) => looked.has(place))) late.add(uid);
    if (late.has(uid)) return;
    seen.set(uid, resourceVersion);
    placesOf.set(uid, places);
  }

  /** Notes the objects that an earlier read has found at a place and this one has not. */
  function missed(place: string, found: ReadonlySet<string>): void {
    for (const [uid, places] of placesOf) {
      if (found.has(uid) || !places.includes(place)) continue;
      placesOf.delete(uid);
      seen.delete(uid);
      late.add(uid);
    }
  }

  return {
    wrote(uid, resourceVersion, over) {
      const before = seen.get(uid);
      if (late.has(uid) || (before && over && compareVersions(over, before) > 0)) return "overtaken";
      if (before === undefined || compareVersions(resourceVersion, before) > 0)
        seen.set(uid, resourceVersion);
      placesOf.delete(uid);
      return "seen";
    },
    foundLate(uid) {
      if (!seen.has(uid)) late.add(uid);
    },
    read(kind, at, version, state, source) {
      const place = addressOf(kind, at);
      if (source === "store") missed(place, new Set(version && [version.uid]));
      if (version) note(kind, version, collectionsOf(version));
      if (state === "gone") looked.add(place);
    },
    readAll(kind, collection, versions, source) {
      const place = collectionOf(kind, collection);
      if (source === "store") missed(place, new Set(versions.map(({ uid }) => uid)));
      for (const version of versions) note(kind, version, [collection, ...collectionsOf(version)]);
      looked.add(place);
    },
  };
}

function collectionsOf({ namespace = "", ownerReferences }: Version): Collection[] {
  const owner = ownerReferences?.find(({ controller }) => controller);
  return [`in ${namespace}`, ...(owner ? [`of ${owner.uid}` as const] : [])];
}
