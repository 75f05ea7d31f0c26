/** An object as it changes. */
import { setTimeout as sleep } from "node:timers/promises";
import { type KubeClient, type ObjectName, resourcePath } from "../../bus/kube/client.ts";
import { isNotFound } from "../../bus/kube/errors.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";

/** The object now and after each change, undefined while it does not exist; ends when the signal aborts. */
export async function* changesOf<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  at: ObjectName,
  signal: AbortSignal,
): AsyncGenerator<Stored<T> | undefined> {
  while (!signal.aborted) {
    try {
      const query = { fieldSelector: `metadata.name=${at.name}` };
      const namespace = at.namespace ?? (kind.scope === "Namespaced" ? "default" : undefined);
      const { items, metadata } = await client.list(kind, namespace, query, signal);
      yield items[0];
      const path = resourcePath(kind, namespace);
      const watch = { ...query, resourceVersion: metadata.resourceVersion };
      for await (const { type, object } of await client.watch<T>({ path, query: watch, signal })) {
        if (type !== "BOOKMARK") yield type === "DELETED" ? undefined : object;
      }
    } catch (error) {
      // An API server that a test has killed comes back.
      if (!signal.aborted && !isNotFound(error)) await sleep(100);
    }
  }
}
