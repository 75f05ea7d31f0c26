/** Following objects, whatever happens to the API server meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import { type KubeClient, resourcePath, type WatchEvent } from "../../../bus/kube/client.ts";
import { isGone } from "../../../bus/kube/errors.ts";
import type { Kind } from "../../../bus/kube/kind.ts";
import { compareVersions, type KubeObject, type Stored } from "../../../bus/kube/object.ts";

/** What to follow, and who is told. */
export interface FollowOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly kind: Kind<T>;
  readonly namespace: string;
  readonly signal: AbortSignal;
  readonly each: (type: "ADDED" | "MODIFIED" | "DELETED", object: Stored<T>) => void;
  /** Called when the API server does not answer, and with undefined when it does again. */
  readonly onTrouble: (error: Error | undefined) => void;
}

const retryMillis = 1000;

/**
 * Calls `each` for every change that comes after it has resolved, and sooner. `ended` resolves when `signal` aborts.
 * What happens while the API server is away is told when it is back, as it is found then.
 */
export async function follow<T extends KubeObject>(
  options: FollowOptions<T>,
): Promise<{ ended: Promise<void> }> {
  const { client, kind, namespace, signal, each, onTrouble } = options;
  const known = new Map<string, Stored<T>>();

  function tell(type: WatchEvent["type"], object: Stored<T>): void {
    if (type === "BOOKMARK") return;
    const { uid } = object.metadata;
    if (type === "DELETED") known.delete(uid);
    else known.set(uid, object);
    each(type, object);
  }

  /** Lists, tells what is not known yet, and returns from where to watch. */
  async function list(): Promise<string> {
    const { items, metadata } = await client.list(kind, namespace, {}, signal);
    const present = new Set(items.map((item) => item.metadata.uid));
    for (const gone of [...known.values()].filter(({ metadata: { uid } }) => !present.has(uid))) {
      tell("DELETED", gone);
    }
    items.sort((a, b) => compareVersions(a.metadata.resourceVersion, b.metadata.resourceVersion));
    for (const item of items) {
      const before = known.get(item.metadata.uid);
      if (before?.metadata.resourceVersion === item.metadata.resourceVersion) continue;
      tell(before === undefined ? "ADDED" : "MODIFIED", item);
    }
    return metadata.resourceVersion;
  }

  async function watch(from: string): Promise<void> {
    let resourceVersion: string | undefined = from;
    let troubled = false;
    while (!signal.aborted) {
      try {
        resourceVersion ??= await list();
        const events: AsyncGenerator<WatchEvent<T>> = await client.watch<T>({
          path: resourcePath(kind, namespace),
          query: { resourceVersion, allowWatchBookmarks: true },
          signal,
        });
        if (troubled) onTrouble(undefined);
        troubled = false;
        for await (const { type, object } of events) {
          resourceVersion = object.metadata.resourceVersion;
          tell(type, object);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (isGone(error)) {
          resourceVersion = undefined;
          continue;
        }
        if (!troubled) onTrouble(error as Error);
        troubled = true;
        await sleep(retryMillis, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  const { items, metadata } = await client.list(kind, namespace, {}, signal);
  for (const item of items) known.set(item.metadata.uid, item);
  return { ended: watch(metadata.resourceVersion) };
}
