/** Records the order in which objects are deleted. */
import { type KubeClient, resourcePath } from "../../bus/kube/client.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import { compareVersions, type KubeObject } from "../../bus/kube/object.ts";
import type { WatchEvent } from "../../bus/kube/watchstream.ts";

/** The deletions so far. */
export interface Departures {
  /** `Kind name`, in the order in which the API server deleted them. */
  gone(): string[];
  stop(): void;
}

/** Starts watching the kinds in a namespace. */
export async function departures(
  client: KubeClient,
  namespace: string,
  kinds: readonly Kind[],
): Promise<Departures> {
  const over = new AbortController();
  const events: WatchEvent<KubeObject>[] = [];
  for (const kind of kinds) {
    const { metadata } = await client.list(kind, namespace);
    const query = { resourceVersion: metadata.resourceVersion };
    const watch = await client.watch({ path: resourcePath(kind, namespace), query, signal: over.signal });
    void (async () => {
      for await (const event of watch) if (event.type === "DELETED") events.push(event);
    })().catch(() => undefined);
  }
  return {
    gone: () =>
      events
        .toSorted((a, b) =>
          compareVersions(a.object.metadata.resourceVersion, b.object.metadata.resourceVersion),
        )
        .map(({ object }) => `${object.kind} ${object.metadata.name}`),
    stop: () => over.abort(),
  };
}
