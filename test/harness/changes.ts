/** An object as it changes. */
import { setTimeout as sleep } from "node:timers/promises";
import { type KubeClient, type ObjectName, resourcePath } from "../../bus/kube/client.ts";
import { isNotFound } from "../../bus/kube/errors.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";

const pauseMillis = 100;

/** What keeps somebody from seeing an object. */
export interface Trouble {
  /** Why the API server has not told of the object when it was asked last; undefined when it has. */
  last?: unknown;
}

/** The trouble in words, for the message about an object that did not become as expected: one line, or none. */
export const troubleLines = ({ last }: Trouble): string[] =>
  last === undefined ? [] : [`it could not be looked at: ${(last as Error).message}`];

/**
 * The object now and after each change, undefined while it does not exist, which is also when its kind is not served; ends when
 * the signal aborts. Whatever goes wrong is tried again, and told in `trouble`.
 */
export async function* changesOf<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  at: ObjectName,
  signal: AbortSignal,
  trouble: Trouble = {},
): AsyncGenerator<Stored<T> | undefined> {
  while (!signal.aborted) {
    try {
      const query = { fieldSelector: `metadata.name=${at.name}` };
      const namespace = at.namespace ?? (kind.scope === "Namespaced" ? "default" : undefined);
      const { items, metadata } = await client.list(kind, namespace, query, signal);
      trouble.last = undefined;
      yield items[0];
      const path = resourcePath(kind, namespace);
      const watch = { ...query, resourceVersion: metadata.resourceVersion };
      for await (const { type, object } of await client.watch<T>({ path, query: watch, signal })) {
        if (type !== "BOOKMARK") yield type === "DELETED" ? undefined : object;
      }
    } catch (error) {
      if (signal.aborted) return;
      trouble.last = error;
      if (isNotFound(error)) yield undefined;
    }
    // An API server that a test has killed comes back, and a CRD may come yet.
    await sleep(pauseMillis, undefined, { signal }).catch(() => undefined);
  }
}
