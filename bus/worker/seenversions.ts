/**
 * Tracks which versions a reconcile has seen. An event is covered only if all decisions of the reconcile used that version or a
 * newer one. So for an object that is read more than once, the oldest version counts. This is usually the first one, but a later
 * read can return an older one: the store may lag behind the API server, and children from the first read may lag behind both.
 * An object that an earlier read, or a read of an older state, did not find does not count at all: its event must trigger another
 * reconcile.
 */
import type { ObjectName } from "../kube/client.ts";
import type { Kind } from "../kube/kind.ts";
import { compareVersions, type KubeObject, type ObjectVersion } from "../kube/object.ts";

/** A version of an object. Its owner references determine the collections that it belongs to. */
export type Version = ObjectVersion & ObjectName & Pick<KubeObject["metadata"], "ownerReferences">;

/** A collection that one read returns: the objects of a kind that an owner controls, those of a namespace, or all. */
export type Collection = `of ${string}` | `in ${string}` | "everywhere";

/** The objects of a namespace, or of all if it is undefined. */
export const collectionIn = (namespace: string | undefined): Collection =>
  namespace === undefined ? "everywhere" : `in ${namespace}`;

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
  /** Addresses without an object, and collections that were read. An object that a later read finds there was missed before. */
  const searched = new Set<string>();
  const late = new Set<string>();
  /** The targets of objects that were read and not written since, by uid: their address and their collections. */
  const targetsOf = new Map<string, readonly string[]>();
  const addressOf = ({ group, kind }: Kind, { namespace = "", name }: ObjectName) =>
    `${group} ${kind} at ${namespace} ${name}`;
  const collectionOf = ({ group, kind }: Kind, collection: Collection) => `${group} ${kind} ${collection}`;

  function recordVersion(kind: Kind, version: Version, collections: readonly Collection[]): void {
    const { uid, resourceVersion } = version;
    const before = seen.get(uid);
    if (before !== undefined) {
      if (targetsOf.has(uid) && compareVersions(resourceVersion, before) < 0) seen.set(uid, resourceVersion);
      return;
    }
    const targets = [addressOf(kind, version), ...collections.map((name) => collectionOf(kind, name))];
    if (targets.some((target) => searched.has(target))) late.add(uid);
    if (late.has(uid)) return;
    seen.set(uid, resourceVersion);
    targetsOf.set(uid, targets);
  }

  /** Records objects that an earlier read of this target found, and this one did not. */
  function missed(target: string, found: ReadonlySet<string>): void {
    for (const [uid, targets] of targetsOf) {
      if (found.has(uid) || !targets.includes(target)) continue;
      targetsOf.delete(uid);
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
      targetsOf.delete(uid);
      return "seen";
    },
    foundLate(uid) {
      if (!seen.has(uid)) late.add(uid);
    },
    read(kind, at, version, state, source) {
      const target = addressOf(kind, at);
      if (source === "store") missed(target, new Set(version && [version.uid]));
      if (version) recordVersion(kind, version, collectionsOf(version));
      if (state === "gone") searched.add(target);
    },
    readAll(kind, collection, versions, source) {
      const target = collectionOf(kind, collection);
      if (source === "store") missed(target, new Set(versions.map(({ uid }) => uid)));
      for (const version of versions) recordVersion(kind, version, [collection, ...collectionsOf(version)]);
      searched.add(target);
    },
  };
}

function collectionsOf({ namespace = "", ownerReferences }: Version): Collection[] {
  const owner = ownerReferences?.find(({ controller }) => controller);
  return ["everywhere", `in ${namespace}`, ...(owner ? [`of ${owner.uid}` as const] : [])];
}
