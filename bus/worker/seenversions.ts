/**
 * Tracks which versions a reconcile has seen. An event is covered only if all decisions of the reconcile used that version or a
 * newer one. So for an object that is read more than once, the oldest version counts. This is mostly the first, but the store
 * may lag behind the API server, and children that came with the first read behind both. An object that one of the reads did
 * not find, earlier or from an older state, does not count at all: its event must trigger another reconcile.
 */
import type { ObjectName } from "../kube/client.ts";
import type { Kind } from "../kube/kind.ts";
import { compareVersions, type KubeObject, type ObjectVersion } from "../kube/object.ts";

/** A version of an object. Its owner references determine the collections that it belongs to. */
export type Version = ObjectVersion & ObjectName & Pick<KubeObject["metadata"], "ownerReferences">;

/** A collection that one read returns: the objects of a kind that an owner controls, or those of a namespace. */
export type Collection = `of ${string}` | `in ${string}`;

/** The source of a read. The API server's state is never older than that of an earlier read; the store's may be. */
export type ReadSource = "store" | "server";

/** Records the reads and writes of a reconcile. */
export interface SeenVersions {
  /**
   * Records a written version; `over` is the version that it replaced, if known. Returns `overtaken` if that was newer than the
   * first version that was read: the object has a change that some decisions did not use.
   */
  wrote(uid: string, resourceVersion: string, over?: string): "seen" | "overtaken";
  /** Records an object that was assumed absent: decisions before it was found did not use it. */
  foundLate(uid: string): void;
  /** Records a read by name: the version that it found, if any, and whether the object still exists. */
  read(
    kind: Kind,
    at: ObjectName,
    version: Version | undefined,
    state: "exists" | "gone",
    source: ReadSource,
  ): void;
  /** Records a read of a collection, including deleted objects. */
  readAll(kind: Kind, collection: Collection, versions: readonly Version[], source: ReadSource): void;
}

/** Fills a map by uid: the oldest version that was read, or the last one that was written. */
export function seenVersions(seen: Map<string, string>): SeenVersions {
  /** Addresses with no object, and collections that were read. An object that a later read finds there was missed earlier. */
  const looked = new Set<string>();
  const late = new Set<string>();
  /** Objects that were read and not written since: their addresses and collections, by uid. */
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

  /** Records objects that an earlier read found at a place, and this one did not. */
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
