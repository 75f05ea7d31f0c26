/**
 * Reads of one reconcile. They come from the object store, corrected by this process's own writes. Where the store is older than
 * the event that caused the reconcile, or than a write of another replica, they come from the API server.
 */
import type { KubeClient } from "../kube/client.ts";
import { isOutside, ownerMarks } from "../kube/clusterchild.ts";
import { apiVersionOf, type Kind } from "../kube/kind.ts";
import { labelSelectorText, selects } from "../kube/labelselector.ts";
import {
  compareVersions,
  controllerOf,
  groupOf,
  type KubeObject,
  type ObjectVersion,
  type Stored,
} from "../kube/object.ts";
import { type Entry, isIncomplete, newestEntry, type ObjectStore } from "../objects/store.ts";
import type { Request } from "../queue/request.ts";
import { keyText, type ObjectKey } from "../subjects.ts";
import type { Written } from "./echoes.ts";
import { changesOf, type FirstRead, isAt, readLive } from "./firstread.ts";
import type { WritesOfKey } from "./ownwrites.ts";
import type { Selection } from "./scope.ts";
import {
  type Collection,
  collectionIn,
  type ReadSource,
  type SeenVersions,
  seenVersions,
  type Version,
} from "./seenversions.ts";

/** Sources of the reads of one reconcile. */
export interface ReadSources {
  readonly store: ObjectStore;
  readonly client: KubeClient;
  readonly own: WritesOfKey;
  /** The announced writes of all replicas for the key. */
  readonly written: readonly Written[];
  readonly request: Request;
  readonly signal: AbortSignal;
  /** Filled by the reads: by uid, the oldest version that was read, or the last one that was written. */
  readonly seen: Map<string, string>;
}

/** The reads of one reconcile. */
export interface ReconcileReads {
  /** As {@link SeenVersions.wrote}. */
  readonly wrote: SeenVersions["wrote"];
  /** As {@link SeenVersions.foundLate}. */
  readonly foundLate: SeenVersions["foundLate"];
  /** The object of the request, from {@link readFirst}. */
  first<T extends KubeObject>(
    kind: Kind<T>,
    key: ObjectKey,
    read: Promise<FirstRead>,
  ): Promise<Stored<T> | undefined>;
  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<Stored<T> | undefined>;
  live<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<Stored<T> | undefined>;
  children<T extends KubeObject>(kind: Kind<T>, owner: Stored): Promise<Stored<T>[]>;
  list<T extends KubeObject>(kind: Kind<T>, selection: Selection): Promise<Stored<T>[]>;
  liveList<T extends KubeObject>(kind: Kind<T>, selection: Selection): Promise<readonly Stored<T>[]>;
}

/** A version, and its object unless it was deleted. */
interface Known<T extends KubeObject> {
  readonly version: Version;
  readonly object: Stored<T> | undefined;
}

function versionOf({ uid, resourceVersion, object: { metadata } }: Entry): Version {
  const { namespace, name, ownerReferences } = metadata;
  return { uid, resourceVersion, namespace, name, ...(ownerReferences && { ownerReferences }) };
}

/** Replaces the children of a kind from the first read, once they were returned. */
const used: readonly Entry[] = [];
const kindOf = ({ apiVersion, kind }: KubeObject): string => `${groupOf(apiVersion)} ${kind}`;
const keyTextOf = ({ metadata: { namespace = "", name } }: KubeObject): string =>
  keyText({ namespace, name });
const isOfKind = (object: KubeObject, { group, kind }: Kind): boolean =>
  kindOf(object) === `${group} ${kind}`;

/** An object that changed its controller has a tombstone at its old address, which must be ignored. */
function latestOfEach<T extends KubeObject>(entries: readonly Entry<T>[]): Entry<T>[] {
  const byName = Map.groupBy(entries, ({ object }) => keyTextOf(object));
  return [...byName.values()].flatMap((same) => newestEntry(same) ?? []);
}

/** Opens the reads of one reconcile. */
export const reconcileReads = (sources: ReadSources): ReconcileReads => new CorrectedReads(sources);

class CorrectedReads implements ReconcileReads {
  readonly #sources: ReadSources;
  readonly #seen: SeenVersions;
  readonly wrote: SeenVersions["wrote"];
  readonly foundLate: SeenVersions["foundLate"];
  /** The children from the first read. */
  #family: { readonly owner: string; readonly children: Map<string, readonly Entry[]> } | undefined;
  /** By collection: needed versions of objects that were deleted or do not belong to it, by uid. */
  readonly #elsewhere = new Map<Collection, Map<string, ObjectVersion>>();

  constructor(sources: ReadSources) {
    this.#sources = sources;
    this.#seen = seenVersions(sources.seen);
    this.wrote = this.#seen.wrote;
    this.foundLate = this.#seen.foundLate;
  }

  async first<T extends KubeObject>(
    kind: Kind<T>,
    key: ObjectKey,
    read: Promise<FirstRead>,
  ): Promise<Stored<T> | undefined> {
    const found = await read;
    if ("live" in found) {
      const object = found.live as Stored<T> | undefined;
      return this.#recordRead(kind, key, object && { version: object.metadata, object }, "server");
    }
    this.#family = found.family && {
      owner: found.family.owner,
      children: Map.groupBy(found.family.children, ({ object }) => kindOf(object)),
    };
    return this.#corrected(kind, key, found.entry as Entry<T> | undefined);
  }

  async get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<Stored<T> | undefined> {
    return this.#corrected(kind, key, await this.#sources.store.entry(kind, key));
  }

  async live<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<Stored<T> | undefined> {
    const object = await this.#readLive(kind, key);
    return this.#recordRead(kind, key, object && { version: object.metadata, object }, "server");
  }

  async children<T extends KubeObject>(kind: Kind<T>, owner: Stored): Promise<Stored<T>[]> {
    // A child outside of its owner's namespace has labels instead of a reference.
    if (isOutside(kind, owner))
      return this.list(kind, { namespace: "", labels: { matchLabels: ownerMarks(owner).labels } });
    const { uid } = owner.metadata;
    const entries = await this.#childEntries(kind, owner);
    return this.#collected(kind, `of ${uid}`, entries, (object) => controllerOf(object)?.uid === uid);
  }

  /** Reads the whole namespace also for some labels: an object without them was seen as well. */
  async list<T extends KubeObject>(
    kind: Kind<T>,
    { namespace, labels = {} }: Selection,
  ): Promise<Stored<T>[]> {
    const entries = latestOfEach(await this.#sources.store.entries(kind, namespace));
    const belongs = ({ metadata }: Stored) =>
      namespace === undefined || (metadata.namespace ?? "") === namespace;
    const found = await this.#collected(kind, collectionIn(namespace), entries, belongs);
    return found.filter(({ metadata }) => selects(labels, metadata.labels ?? {}));
  }

  async liveList<T extends KubeObject>(
    kind: Kind<T>,
    { namespace, labels = {} }: Selection,
  ): Promise<readonly Stored<T>[]> {
    const { client, signal } = this.#sources;
    const labelSelector = labelSelectorText(labels) || undefined;
    const { items } = await client.list(kind, namespace || undefined, { labelSelector }, signal);
    const versions = items.map(({ metadata }) => metadata);
    // Objects without the labels count as absent. If one is read later, its event requests another reconcile.
    this.#seen.readAll(kind, collectionIn(namespace), versions, "server");
    // Items of a list have no type.
    return items.map((item) => ({ ...item, apiVersion: apiVersionOf(kind), kind: kind.kind }));
  }

  #readLive<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<Stored<T> | undefined> {
    return readLive(this.#sources.client, kind, key, this.#sources.signal);
  }

  /** Records a read by name, and returns its object. */
  #recordRead<T extends KubeObject>(
    kind: Kind<T>,
    key: ObjectKey,
    { version, object }: Partial<Known<T>> = {},
    source: ReadSource = "store",
  ): Stored<T> | undefined {
    this.#seen.read(kind, key, version, object ? "exists" : "gone", source);
    return object;
  }

  /** Minimum versions: those of the causes, and newer writes of other replicas. */
  #neededOf(kind: Kind): readonly Needed[] {
    const { own, request, written } = this.#sources;
    return [
      ...changesOf(request, kind),
      ...written.filter(
        ({ group, kind: name, uid, resourceVersion }) =>
          name === kind.kind &&
          group === kind.group &&
          compareVersions(own.of(uid)?.object.metadata.resourceVersion ?? "0", resourceVersion) < 0,
      ),
    ];
  }

  /** The newer of the store's entry and this process's own write. */
  #newest<T extends KubeObject>(entry: Entry<T>): Known<T> {
    const { uid, resourceVersion, deleted, object } = entry;
    const write = deleted ? undefined : this.#sources.own.of(uid);
    const isWritten = write && compareVersions(write.object.metadata.resourceVersion, resourceVersion) > 0;
    if (write?.deleted) return { version: versionOf(entry), object: undefined };
    if (!isWritten) return { version: versionOf(entry), object: deleted ? undefined : object };
    return { version: write.object.metadata, object: write.object as Stored<T> };
  }

  /** The children from the first read are returned once; a second read must see new ones. */
  async #childEntries<T extends KubeObject>(kind: Kind<T>, owner: Stored): Promise<readonly Entry<T>[]> {
    const name = `${kind.group} ${kind.kind}`;
    const family = this.#family;
    if (family?.owner !== owner.metadata.uid || family.children.get(name) === used)
      return this.#sources.store.childEntries(kind, owner);
    const entries = family.children.get(name) ?? [];
    family.children.set(name, used);
    return entries as readonly Entry<T>[];
  }

  /** The store's entry for a key, unless a newer version is known or needed. */
  async #corrected<T extends KubeObject>(
    kind: Kind<T>,
    key: ObjectKey,
    entry: Entry<T> | undefined,
  ): Promise<Stored<T> | undefined> {
    if (entry !== undefined && isIncomplete(entry)) return this.live(kind, key);
    const version = entry?.resourceVersion ?? "0";
    for (const needed of this.#neededOf(kind)) {
      if (!isAt(key)(needed)) continue;
      if (!isEnough(version, needed)) return this.live(kind, key);
    }
    const found = entry && this.#newest(entry);
    if (found?.object) return this.#recordRead(kind, key, found);
    for (const write of this.#sources.own.all()) {
      if (write.deleted || !isOfKind(write.object, kind) || keyTextOf(write.object) !== keyText(key))
        continue;
      if (write.object.metadata.uid === entry?.uid) continue;
      // The store has a later object of this name, which was also deleted.
      if (compareVersions(version, write.object.metadata.resourceVersion) > 0) continue;
      const { metadata } = write.object;
      return this.#recordRead(kind, key, { version: metadata, object: write.object as Stored<T> });
    }
    return this.#recordRead(kind, key, found);
  }

  /** The objects of a collection, corrected by newer versions that are known or needed. */
  async #collected<T extends KubeObject>(
    kind: Kind<T>,
    collection: Collection,
    entries: readonly Entry<T>[],
    belongs: (object: Stored) => boolean,
  ): Promise<Stored<T>[]> {
    const collected = new Collected<T>();
    /** The newest version in the store of each key. */
    const latest = new Map<string, string>();
    for (const entry of entries) {
      const { namespace = "", name } = entry.object.metadata;
      latest.set(keyTextOf(entry.object), entry.resourceVersion);
      collected.versions.set(entry.uid, versionOf(entry));
      if (!isIncomplete(entry)) collected.add(this.#newest(entry));
      else {
        const object = await this.#readLive(kind, { namespace, name });
        if (object && belongs(object)) collected.add({ version: object.metadata, object });
      }
    }
    this.#addOwnWrites(kind, collected, latest, belongs);
    const elsewhere = this.#elsewhere.get(collection) ?? new Map<string, ObjectVersion>();
    this.#elsewhere.set(collection, elsewhere);
    await this.#addNeeded(kind, collected, elsewhere, belongs);
    this.#seen.readAll(kind, collection, [...collected.versions.values()], "store");
    return [...collected.found.values()];
  }

  #addOwnWrites<T extends KubeObject>(
    kind: Kind<T>,
    collected: Collected<T>,
    latest: ReadonlyMap<string, string>,
    belongs: (object: Stored) => boolean,
  ): void {
    for (const { object, deleted } of this.#sources.own.all()) {
      const { uid, resourceVersion } = object.metadata;
      if (deleted || collected.versions.has(uid) || !isOfKind(object, kind) || !belongs(object)) continue;
      // Another client recreated it: the store has the later object of this name.
      if (compareVersions(latest.get(keyTextOf(object)) ?? "0", resourceVersion) > 0) continue;
      collected.add({ version: object.metadata, object: object as Stored<T> });
    }
  }

  /** Reads the objects whose version in the store is older than needed from the API server, one by one. */
  async #addNeeded<T extends KubeObject>(
    kind: Kind<T>,
    collected: Collected<T>,
    elsewhere: Map<string, ObjectVersion>,
    belongs: (object: Stored) => boolean,
  ): Promise<void> {
    const needed = this.#neededOf(kind).filter((version) => !isKnown(collected.versions, version));
    await Promise.all(
      needed.map(async (version) => {
        collected.found.delete(version.uid);
        if (isKnown(elsewhere, version)) return;
        collected.versions.set(version.uid, version);
        const object = await this.#readLive(kind, version);
        if (object && belongs(object)) collected.add({ version: object.metadata, object });
        if (!collected.found.has(version.uid)) elsewhere.set(version.uid, version);
      }),
    );
  }
}

/** The objects of a collection that were found, and the versions that were read, both by uid. */
class Collected<T extends KubeObject> {
  readonly found = new Map<string, Stored<T>>();
  readonly versions = new Map<string, Version>();

  add({ version, object }: Known<T>): void {
    this.versions.set(version.uid, version);
    if (object) this.found.set(version.uid, object);
  }
}

/** A version that a read must return, or a later one. */
type Needed = ObjectVersion & ObjectKey & { readonly correction?: true | undefined };

/** A replica of the bus may lag, and still have the version without the correction. */
const isEnough = (version: string, { resourceVersion, correction }: Needed): boolean => {
  const order = compareVersions(version, resourceVersion);
  return order > 0 || (order === 0 && !correction);
};

const isKnown = (known: ReadonlyMap<string, ObjectVersion>, needed: Needed): boolean =>
  isEnough(known.get(needed.uid)?.resourceVersion ?? "0", needed);
