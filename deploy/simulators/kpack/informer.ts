/** Informers of the simulated kpack controllers: list once, then watch. */
import { setTimeout as sleep } from "node:timers/promises";
import { compareVersions, type Kind, type KubeObject, type Stored } from "denrei/kinds";
import { type ApiRequest, type KubeClient, type ObjectName, resourcePath } from "denrei/kubernetes";

/** The cached objects of a kind. */
export interface Informer<T extends KubeObject> {
  get(at: ObjectName): Stored<T> | undefined;
  all(): Stored<T>[];
  /** Adds the object from a write's response, which arrives before the watch event. */
  observe(object: Stored<T>): void;
  /** Shows an object with a status that is not written yet, until a newer version is observed. */
  preview(object: Stored<T>): void;
  /** Lists the objects again and reports changes that the watch has not delivered yet. */
  refresh(): Promise<void>;
}

/** Options of an informer. */
export interface InformerOptions<T extends KubeObject> {
  readonly signal: AbortSignal;
  readonly query?: ApiRequest["query"];
  /** Called after every change; after a deletion with the last known object. */
  readonly changed: (object: Stored<T>, now: "present" | "deleted") => void;
}

const retryMillis = 100;

/** `namespace/name`, or `/name` without a namespace. */
export const keyOf = ({ namespace, name }: ObjectName): string => `${namespace ?? ""}/${name}`;

/** The reverse of {@link keyOf}. */
export function atKey(key: string): { namespace: string; name: string } {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}

/** Lists the kind in all namespaces and watches it until the abort. Rejects when the first list fails. */
export async function startInformer<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  { signal, query, changed }: InformerOptions<T>,
): Promise<Informer<T>> {
  const cache = new Cache(changed);

  /** Returns the resourceVersion to watch from. */
  async function list(): Promise<string> {
    const { items, metadata } = await client.list(kind, undefined, query, signal);
    cache.replaceAll(items, metadata.resourceVersion);
    return metadata.resourceVersion;
  }

  async function follow(from: string): Promise<void> {
    for (let resourceVersion = from; ; ) {
      const path = resourcePath(kind);
      const watch = { path, query: { ...query, resourceVersion, allowWatchBookmarks: true }, signal };
      for await (const { type, object } of await client.watch<T>(watch)) {
        resourceVersion = object.metadata.resourceVersion;
        if (type === "DELETED") cache.forget(object);
        else if (type !== "BOOKMARK") cache.observe(object);
      }
      await sleep(retryMillis, undefined, { signal });
    }
  }

  async function keepFollowing(first: string): Promise<void> {
    for (let from: string | undefined = first; !signal.aborted; ) {
      try {
        await follow(from ?? (await list()));
      } catch {
        // Any error (an expired watch, an unavailable server) is resolved by a new list.
        from = undefined;
        await sleep(retryMillis, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  void keepFollowing(await list());
  return {
    get: (at) => cache.get(at),
    all: () => cache.all(),
    observe: (object) => cache.observe(object),
    preview: (object) => cache.preview(object),
    async refresh() {
      await list();
    },
  };
}

/** The known objects of a kind. */
class Cache<T extends KubeObject> {
  readonly #objects = new Map<string, Stored<T>>();
  // The response of a write may arrive after the object's DELETED event.
  readonly #deleted = new Set<string>();
  readonly #changed: InformerOptions<T>["changed"];

  constructor(changed: InformerOptions<T>["changed"]) {
    this.#changed = changed;
  }

  get(at: ObjectName): Stored<T> | undefined {
    return this.#objects.get(keyOf(at));
  }

  all(): Stored<T>[] {
    return [...this.#objects.values()];
  }

  observe(object: Stored<T>): void {
    const { uid, resourceVersion } = object.metadata;
    const before = this.get(object.metadata);
    if (this.#deleted.has(uid)) return;
    if (before && compareVersions(resourceVersion, before.metadata.resourceVersion) <= 0) return;
    this.#put(object);
  }

  preview(object: Stored<T>): void {
    const { uid, resourceVersion } = this.get(object.metadata)?.metadata ?? {};
    if (uid !== object.metadata.uid || resourceVersion !== object.metadata.resourceVersion) return;
    this.#put(object);
  }

  forget(object: Stored<T>): void {
    this.#deleted.add(object.metadata.uid);
    if (this.get(object.metadata)?.metadata.uid !== object.metadata.uid) return;
    this.#objects.delete(keyOf(object.metadata));
    this.#changed(object, "deleted");
  }

  /** Updates the cache to a list with that resourceVersion. */
  replaceAll(items: readonly Stored<T>[], resourceVersion: string): void {
    const listed = new Set(items.map(({ metadata }) => metadata.uid));
    for (const object of this.all()) {
      // An object created after the list is not in it.
      const isNewer = compareVersions(object.metadata.resourceVersion, resourceVersion) > 0;
      if (!listed.has(object.metadata.uid) && !isNewer) this.forget(object);
    }
    for (const object of items) this.observe(object);
  }

  #put(object: Stored<T>): void {
    this.#objects.set(keyOf(object.metadata), object);
    this.#changed(object, "present");
  }
}
