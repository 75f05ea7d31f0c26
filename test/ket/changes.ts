/** Follows an object through its changes. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Kind, KubeObject, Stored } from "denrei/kinds";
import { isNotFound, type KubeClient, type ObjectName, resourcePath } from "denrei/kubernetes";

const pauseMillis = 100;

/** Why an object cannot be read at the moment. */
export interface ReadFailure {
  /** The error of the last request; undefined when it succeeded. */
  last?: unknown;
}

/** The error as a line for the message about an object that did not become as expected; empty without an error. */
export const failureLines = ({ last }: ReadFailure): string[] =>
  last === undefined ? [] : [`the last request failed: ${(last as Error).message}`];

/**
 * Yields the object now and after each change, and undefined while it does not exist or its kind is not served. Ends when the signal
 * aborts. Retries every error and records it in `trouble`.
 */
export async function* changesOf<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  at: ObjectName,
  signal: AbortSignal,
  failure: ReadFailure = {},
): AsyncGenerator<Stored<T> | undefined> {
  while (!signal.aborted) {
    try {
      const query = { fieldSelector: `metadata.name=${at.name}` };
      const namespace = at.namespace ?? (kind.scope === "Namespaced" ? "default" : undefined);
      const { items, metadata } = await client.list(kind, namespace, query, signal);
      failure.last = undefined;
      yield items[0];
      const path = resourcePath(kind, namespace);
      const watch = { ...query, resourceVersion: metadata.resourceVersion };
      for await (const { type, object } of await client.watch<T>({ path, query: watch, signal })) {
        if (type !== "BOOKMARK") yield type === "DELETED" ? undefined : object;
      }
    } catch (error) {
      if (signal.aborted) return;
      failure.last = error;
      if (isNotFound(error)) yield undefined;
    }
    // An API server that a test killed comes back, and a CRD may be installed later.
    await sleep(pauseMillis, undefined, { signal }).catch(() => undefined);
  }
}
