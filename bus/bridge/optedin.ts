/** Follows the opted-in namespaces, those with the label. The label may change at any time. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { type KubeClient, metadataOnly } from "../kube/client.ts";
import { optInLabel } from "../kube/domain.ts";
import { Namespace } from "../kube/kind.ts";

/** Options of {@link followOptedIn}. */
export interface OptedInOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Starts in a namespace. Returns the function that ends it there and resolves when it has ended. */
  readonly enter: (namespace: string) => () => Promise<void>;
  /** Called with the error if the namespaces cannot be listed, and with undefined when they can be again. */
  readonly onProblem: (error: Error | undefined) => void;
}

/** Labels rarely change, and a delay of a few seconds does no harm. */
const pollMillis = 5000;

/** Polls the opted-in namespaces every few seconds until `signal` aborts. After a failed list, the known ones stay. */
export async function followOptedIn(options: OptedInOptions): Promise<void> {
  const { client, signal, log, enter, onProblem } = options;
  const running = new Map<string, () => Promise<void>>();
  let lastError: string | undefined;
  while (!signal.aborted) {
    try {
      const labelled = await optedInNamespaces(client, signal);
      onProblem(undefined);
      lastError = undefined;
      const entered = [...labelled].filter((namespace) => !running.has(namespace));
      const left = [...running.keys()].filter((namespace) => !labelled.has(namespace));
      if (entered.length + left.length > 0) log.info({ entered, left }, "opted-in namespaces changed");
      // A namespace that is opted in again starts only after its former run has ended.
      await Promise.all(left.map((namespace) => running.get(namespace)?.()));
      for (const namespace of left) running.delete(namespace);
      for (const namespace of entered) running.set(namespace, enter(namespace));
    } catch (error) {
      if (signal.aborted) break;
      const { message } = error as Error;
      log[lastError === message ? "debug" : "warn"](
        { err: error, known: [...running.keys()] },
        "failed to list namespaces, keeping the known ones",
      );
      lastError = message;
      onProblem(error as Error);
    }
    await sleep(pollMillis * (0.8 + 0.4 * Math.random()), undefined, { signal }).catch(() => undefined);
  }
  await Promise.all([...running.values()].map((leave) => leave()));
}

/** The namespaces that are opted in now. */
export async function optedInNamespaces(
  client: KubeClient,
  signal?: AbortSignal,
): Promise<ReadonlySet<string>> {
  const query = { labelSelector: `${optInLabel}=true` };
  const { items } = await client.list(Namespace, undefined, query, signal, metadataOnly.list);
  return new Set(items.map(({ metadata }) => metadata.name));
}
