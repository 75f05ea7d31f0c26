/**
 * Reads of one reconcile. They come from the object store, corrected by this process's own writes. Where the store is older than
 * the event that caused the reconcile, or than a write of another replica, they come from the API server.
 */
import type { KubeClient } from "../kube/client.ts";
import { isNotFound } from "../kube/errors.ts";
import type { Kind } from "../kube/kind.ts";
import {
  compareVersions,
  controllerOf,
  groupOf,
  type KubeObject,
  newestVersion,
  type ObjectVersion,
  type Stored,
} from "../kube/object.ts";
import { type Entry, isIncomplete, newestEntry, type ObjectStore } from "../objects/store.ts";
import type { Request } from "../queue/request.ts";
import type { ObjectKey } from "../subjects.ts";
import type { Written } from "./echoes.ts";
import type { WritesOfKey } from "./ownwrites.ts";
import { type Collection, type ReadSource, type SeenVersions, seenVersions, type Version } from "./seen.ts";

/**
 * The first read of an attempt: from the object store, the object and, if the request has its uid, its children; or from the API
 * server, the object alone.
 */
export type FirstRead =
  | {
      readonly entry: Entry | undefined;
      readonly family: { readonly owner: string; readonly children: readonly Entry[] } | undefined;
    }
  | { readonly live: Stored | undefined };

/** The changes of this kind in the request: reads must return at least these versions. */
const changesOf = ({ cause, also = [] }: Request, kind: Kind) =>
  [cause, ...also].flatMap((change) =>
    change.type === "object" && change.kind === kind.kind && change.group === kind.group ? [change] : [],
  );

/**
 * Whether the request includes a manual replay. A replay does not name the change it is for. Most often that is the latest one,
 * which the store may not have yet.
 */
export const isReplay = ({ cause, also = [] }: Request): boolean =>
  [cause, ...also].some(({ type }) => type === "replay");

/** Reads the object of a request, with its children if possible: most reconciles need both. */
export async function readFirst(
  { store, client }: Pick<ReadSources, "store" | "client">,
  kind: Kind,
  key: ObjectKey,
  request: Request,
  signal: AbortSignal,
): Promise<FirstRead> {
  if (isReplay(request)) return readFirstLive(client, kind, key, signal);
  const self = changesOf(request, kind).find(isAt(key));
  if (self === undefined) return { entry: await store.entry(kind, key), family: undefined };
  const { entry, children } = await store.family(kind, key, self.uid);
  return { entry, family: { owner: self.uid, children } };
}

/** Reads the object of a request from the API server. */
export const readFirstLive = async (
  client: KubeClient,
  kind: Kind,
  key: ObjectKey,
  signal?: AbortSignal,
): Promise<FirstRead> => ({ live: await readLive(client, kind, key, signal) });

/** Reads an object from the API server; undefined when it does not exist. */
export const readLive = <T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  key: ObjectKey,
  signal?: AbortSignal,
): Promise<Stored<T> | undefined> => client.get(kind, key, signal).catch(undefinedIfGone);

/** The minimum version of the object that an attempt reads: never older than its causes. */
export function leastVersion(
  kind: Kind,
  key: ObjectKey,
  request: Request,
  read: FirstRead,
): ObjectVersion | undefined {
  const found = "live" in read ? read.live?.metadata : read.entry;
  const newest = newestVersion([found, ...changesOf(request, kind).filter(isAt(key))]);
  return newest && { uid: newest.uid, resourceVersion: newest.resourceVersion };
}

const isAt =
  (key: ObjectKey) =>
  ({ namespace, name }: ObjectKey): boolean =>
    namespace === key.namespace && name === key.name;

function undefinedIfGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

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
  list<T extends KubeObject>(kind: Kind<T>, namespace: string): Promise<Stored<T>[]>;
  liveList<T extends KubeObject>(kind: Kind<T>, namespace: string): Promise<readonly Stored<T>[]>;
}

/** A version, and its object unless it was deleted. */
interface InHand<T extends KubeObject> {
  readonly version: Version;
  readonly object: Stored<T> | undefined;
}

function versionOf({ uid, resourceVersion, object: { metadata } }: Entry): Version {
  const { namespace, name, ownerReferences } = metadata;
  return { uid, resourceVersion, namespace, name, ...(ownerReferences && { ownerReferences }) };
}

const used: readonly Entry[] = [];
const kindOf = ({ apiVersion, kind }: KubeObject): string => `${groupOf(apiVersion)} ${kind}`;

/** An object that changed its controller has a tombstone at its old address, which must be ignored. */
function latestOfEach<T extends KubeObject>(entries: readonly Entry<T>[]): Entry<T>[] {
  const byName = Map.groupBy(entries, ({ object }) => object.metadata.name);
  return [...byName.values()].flatMap((same) => newestEntry(same) ?? []);
}

/** Opens the reads of one reconcile. */
export function reconcileReads({
  store,
  client,
  own,
  written,
  request,
  signal,
  seen,
}: ReadSources): ReconcileReads {
  const noted = seenVersions(seen);

  /** Records a read by name, and returns its object. */
  function at<T extends KubeObject>(
    kind: Kind<T>,
    key: ObjectKey,
    { version, object }: Partial<InHand<T>> = {},
    source: ReadSource = "store",
  ): Stored<T> | undefined {
    noted.read(kind, key, version, object ? "exists" : "gone", source);
    return object;
  }

  /** Minimum versions: those of the causes, and newer writes of other replicas. */
  const neededOf = (kind: Kind): readonly Written[] => [
    ...changesOf(request, kind),
    ...written.filter(
      ({ group, kind: name, uid, resourceVersion }) =>
        name === kind.kind &&
        group === kind.group &&
        compareVersions(own.of(uid)?.object.metadata.resourceVersion ?? "0", resourceVersion) < 0,
    ),
  ];

  async function live<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<Stored<T> | undefined> {
    const object = await readLive(client, kind, key, signal);
    return at(kind, key, object && { version: object.metadata, object }, "server");
  }

  /** The newer of the store's entry and this process's own write. */
  function newest<T extends KubeObject>(entry: Entry<T>): InHand<T> {
    const { uid, resourceVersion, deleted, object } = entry;
    const write = deleted ? undefined : own.of(uid);
    const isWritten = write && compareVersions(write.object.metadata.resourceVersion, resourceVersion) > 0;
    if (write?.deleted) return { version: versionOf(entry), object: undefined };
    if (!isWritten) return { version: versionOf(entry), object: deleted ? undefined : object };
    return { version: write.object.metadata, object: write.object as Stored<T> };
  }

  // The children from the first read.
  let family: { readonly owner: string; readonly children: Map<string, readonly Entry[]> } | undefined;

  /** Children from the first read serve one read; a second read must see new ones. */
  async function childEntries<T extends KubeObject>(
    kind: Kind<T>,
    owner: Stored,
  ): Promise<readonly Entry<T>[]> {
    const name = `${kind.group} ${kind.kind}`;
    if (family?.owner !== owner.metadata.uid || family.children.get(name) === used)
      return store.childEntries(kind, owner);
    const entries = family.children.get(name) ?? [];
    family.children.set(name, used);
    return entries as readonly Entry<T>[];
  }

  /** The store's entry for a key, unless a newer version is known or needed. */
  async function corrected<T extends KubeObject>(
    kind: Kind<T>,
    key: ObjectKey,
    entry: Entry<T> | undefined,
  ): Promise<Stored<T> | undefined> {
    if (entry !== undefined && isIncomplete(entry)) return live(kind, key);
    const version = entry?.resourceVersion ?? "0";
    for (const needed of neededOf(kind)) {
      if (!isAt(key)(needed)) continue;
      if (compareVersions(version, needed.resourceVersion) < 0) return live(kind, key);
    }
    const found = entry && newest(entry);
    if (found?.object) return at(kind, key, found);
    for (const write of own.all()) {
      if (write.deleted || write.object.kind !== kind.kind || write.object.metadata.name !== key.name)
        continue;
      if (write.object.metadata.uid === entry?.uid) continue;
      // The store has a later object of this name, which was also deleted.
      if (compareVersions(version, write.object.metadata.resourceVersion) > 0) continue;
      return at(kind, key, { version: write.object.metadata, object: write.object as Stored<T> });
    }
    return at(kind, key, found);
  }

  /** Needed versions of objects that were deleted or belong to another collection, by uid. */
  const elsewhere = new Map<string, ObjectVersion>();
  const isKnown = (
    known: ReadonlyMap<string, ObjectVersion>,
    { uid, resourceVersion }: ObjectVersion,
  ): boolean => compareVersions(known.get(uid)?.resourceVersion ?? "0", resourceVersion) >= 0;

  /** The objects of a collection, corrected by newer versions that are known or needed. */
  async function collected<T extends KubeObject>(
    kind: Kind<T>,
    collection: Collection,
    entries: readonly Entry<T>[],
    belongs: (object: Stored) => boolean,
  ): Promise<Stored<T>[]> {
    const found = new Map<string, Stored<T>>();
    const versions = new Map<string, Version>();
    const latest = new Map<string, string>();
    function take({ version, object }: InHand<T>): void {
      versions.set(version.uid, version);
      if (object) found.set(version.uid, object);
    }

    for (const entry of entries) {
      const { namespace = "", name } = entry.object.metadata;
      latest.set(name, entry.resourceVersion);
      versions.set(entry.uid, versionOf(entry));
      if (!isIncomplete(entry)) take(newest(entry));
      else {
        const object = await readLive(client, kind, { namespace, name }, signal);
        if (object && belongs(object)) take({ version: object.metadata, object });
      }
    }
    for (const { object, deleted } of own.all()) {
      const { uid, resourceVersion, name } = object.metadata;
      if (deleted || versions.has(uid) || object.kind !== kind.kind || !belongs(object)) continue;
      // Another client recreated it: the store has the later object of this name.
      if (compareVersions(latest.get(name) ?? "0", resourceVersion) > 0) continue;
      take({ version: object.metadata, object: object as Stored<T> });
    }
    const needed = neededOf(kind).filter((version) => !isKnown(versions, version));
    await Promise.all(
      needed.map(async (version) => {
        // The store is older than the needed version: read this one object live.
        found.delete(version.uid);
        if (isKnown(elsewhere, version)) return;
        versions.set(version.uid, version);
        const object = await readLive(client, kind, version, signal);
        if (object && belongs(object)) take({ version: object.metadata, object });
        if (!found.has(version.uid)) elsewhere.set(version.uid, version);
      }),
    );
    noted.readAll(kind, collection, [...versions.values()], "store");
    return [...found.values()];
  }

  return {
    wrote: noted.wrote,
    foundLate: noted.foundLate,
    live,
    async first<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, read: Promise<FirstRead>) {
      const found = await read;
      let object: Stored<T> | undefined;
      if ("live" in found) {
        object = found.live as Stored<T> | undefined;
        at(kind, key, object && { version: object.metadata, object }, "server");
      } else {
        family = found.family && {
          owner: found.family.owner,
          children: Map.groupBy(found.family.children, ({ object }) => kindOf(object)),
        };
        object = await corrected(kind, key, found.entry as Entry<T> | undefined);
      }
      return object;
    },
    get: async (kind, key) => corrected(kind, key, await store.entry(kind, key)),
    children: async (kind, owner) =>
      collected(
        kind,
        `of ${owner.metadata.uid}`,
        await childEntries(kind, owner),
        (object) => controllerOf(object)?.uid === owner.metadata.uid,
      ),
    list: async (kind, namespace) =>
      collected(
        kind,
        `in ${namespace}`,
        latestOfEach(await store.entries(kind, namespace)),
        ({ metadata }) => (metadata.namespace ?? "") === namespace,
      ),
    async liveList<T extends KubeObject>(kind: Kind<T>, namespace: string) {
      const within = kind.scope === "Namespaced" ? namespace : undefined;
      const { items } = await client.list(kind, within, undefined, signal);
      noted.readAll(
        kind,
        `in ${within ?? ""}`,
        items.map(({ metadata }) => metadata),
        "server",
      );
      return items;
    },
  };
}
