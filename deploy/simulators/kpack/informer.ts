/** The objects of a kind as the controllers of the stand-in for kpack v0.17.2 see them: listed once, then watched. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiRequest, type KubeClient, type ObjectName, resourcePath } from "../../../bus/kube/client.ts";
import type { Kind } from "../../../bus/kube/kind.ts";
import { compareVersions, type KubeObject, type Stored } from "../../../bus/kube/object.ts";

/** What is known of the objects of a kind. */
export interface Informer<T extends KubeObject> {
  get(at: ObjectName): Stored<T> | undefined;
  all(): Stored<T>[];
  /** What a write was answered with. It is as good as the event that tells of it, and earlier. */
  observe(object: Stored<T>): void;
  /** Takes the object, of the version that is known, for what it is about to become; until a newer one is observed. */
  foresee(object: Stored<T>): void;
  /** Lists the objects again and reports the changes that the watch has not reported yet. */
  refresh(): Promise<void>;
}

/** What an informer is asked for. */
export interface InformerOptions<T extends KubeObject> {
  readonly signal: AbortSignal;
  readonly query?: ApiRequest["query"];
  /** Called after every change; a change to nothing is told with the object as it was. */
  readonly changed: (object: Stored<T>, now: "present" | "gone") => void;
}

const againMillis = 100;

/** `namespace/name`; without a namespace the slash stays. */
export const keyOf = ({ namespace, name }: ObjectName): string => `${namespace ?? ""}/${name}`;

/** What {@link keyOf} was made of. */
export function atKey(key: string): { namespace: string; name: string } {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}

/** Lists the kind, in all namespaces, and keeps watching it until the signal. Rejects when the first list fails. */
export async function startInformer<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  { signal, query, changed }: InformerOptions<T>,
): Promise<Informer<T>> {
  const known = new Map<string, Stored<T>>();
  // A write's answer may come later than the event of the object's end.
  const over = new Set<string>();

  function observe(object: Stored<T>): void {
    const key = keyOf(object.metadata);
    const { uid, resourceVersion } = object.metadata;
    const before = known.get(key);
    if (over.has(uid)) return;
    if (before && compareVersions(resourceVersion, before.metadata.resourceVersion) <= 0) return;
    known.set(key, object);
    changed(object, "present");
  }

  function foresee(object: Stored<T>): void {
    const key = keyOf(object.metadata);
    const { uid, resourceVersion } = known.get(key)?.metadata ?? {};
    if (uid !== object.metadata.uid || resourceVersion !== object.metadata.resourceVersion) return;
    known.set(key, object);
    changed(object, "present");
  }

  function forget(object: Stored<T>): void {
    over.add(object.metadata.uid);
    const key = keyOf(object.metadata);
    if (known.get(key)?.metadata.uid !== object.metadata.uid) return;
    known.delete(key);
    changed(object, "gone");
  }

  async function list(): Promise<string> {
    const { items, metadata } = await client.list(kind, undefined, query, signal);
    const there = new Set(items.map(({ metadata }) => metadata.uid));
    for (const object of [...known.values()]) {
      // An object that was written after the list is not in it.
      const isNewer = compareVersions(object.metadata.resourceVersion, metadata.resourceVersion) > 0;
      if (!there.has(object.metadata.uid) && !isNewer) forget(object);
    }
    for (const object of items) observe(object);
    return metadata.resourceVersion;
  }

  async function follow(from: string): Promise<void> {
    for (let resourceVersion = from; ; ) {
      const path = resourcePath(kind);
      const watch = { path, query: { ...query, resourceVersion, allowWatchBookmarks: true }, signal };
      for await (const { type, object } of await client.watch<T>(watch)) {
        resourceVersion = object.metadata.resourceVersion;
        if (type === "DELETED") forget(object);
        else if (type !== "BOOKMARK") observe(object);
      }
      await sleep(againMillis, undefined, { signal });
    }
  }

  async function keepFollowing(first: string): Promise<void> {
    for (let from: string | undefined = first; !signal.aborted; ) {
      try {
        await follow(from ?? (await list()));
      } catch {
        // Whatever it was (a watch that is too old, a server that is away): what there is now says all.
        from = undefined;
        await sleep(againMillis, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  void keepFollowing(await list());
  return {
    get: (at) => known.get(keyOf(at)),
    all: () => [...known.values()],
    observe,
    foresee,
    async refresh() {
      await list();
    },
  };
}
