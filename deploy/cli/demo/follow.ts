/** Following the objects of a kind across restarts of the API server. */
import { setTimeout as sleep } from "node:timers/promises";
import { compareVersions, type Kind, type KubeObject, type Stored } from "denrei/kinds";
import { isGone, type KubeClient, resourcePath, type WatchEvent } from "denrei/kubernetes";

/** What to follow. */
export interface FollowOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly kind: Kind<T>;
  readonly namespace: string;
  readonly signal: AbortSignal;
  readonly each: (type: "ADDED" | "MODIFIED" | "DELETED", object: Stored<T>) => void;
  /** Called when the API server does not answer, and with undefined when it answers again. */
  readonly onError: (error: Error | undefined) => void;
}

const retryMillis = 1000;

/**
 * Calls `each` for every change from now on. After an outage of the API server, reports the differences to the last known state.
 * `ended` resolves when `signal` aborts.
 */
export async function follow<T extends KubeObject>(
  options: FollowOptions<T>,
): Promise<{ ended: Promise<void> }> {
  const { client, kind, namespace, signal, each, onError } = options;
  const known = new Map<string, Stored<T>>();

  function report(type: WatchEvent["type"], object: Stored<T>): void {
    if (type === "BOOKMARK") return;
    const { uid } = object.metadata;
    if (type === "DELETED") known.delete(uid);
    else known.set(uid, object);
    each(type, object);
  }

  /** Lists, reports differences, and returns the resourceVersion to watch from. */
  async function list(): Promise<string> {
    const { items, metadata } = await client.list(kind, namespace, {}, signal);
    const present = new Set(items.map((item) => item.metadata.uid));
    for (const gone of [...known.values()].filter(({ metadata: { uid } }) => !present.has(uid))) {
      report("DELETED", gone);
    }
    items.sort((a, b) => compareVersions(a.metadata.resourceVersion, b.metadata.resourceVersion));
    for (const item of items) {
      const before = known.get(item.metadata.uid);
      if (before?.metadata.resourceVersion === item.metadata.resourceVersion) continue;
      report(before === undefined ? "ADDED" : "MODIFIED", item);
    }
    return metadata.resourceVersion;
  }

  async function watch(from: string): Promise<void> {
    let resourceVersion: string | undefined = from;
    let isFailing = false;
    while (!signal.aborted) {
      try {
        resourceVersion ??= await list();
        const events: AsyncGenerator<WatchEvent<T>> = await client.watch<T>({
          path: resourcePath(kind, namespace),
          query: { resourceVersion, allowWatchBookmarks: true },
          signal,
        });
        if (isFailing) onError(undefined);
        isFailing = false;
        for await (const { type, object } of events) {
          resourceVersion = object.metadata.resourceVersion;
          report(type, object);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (isGone(error)) {
          resourceVersion = undefined;
          continue;
        }
        if (!isFailing) onError(error as Error);
        isFailing = true;
        await sleep(retryMillis, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  const { items, metadata } = await client.list(kind, namespace, {}, signal);
  for (const item of items) known.set(item.metadata.uid, item);
  return { ended: watch(metadata.resourceVersion) };
}
