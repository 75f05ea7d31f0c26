/** Which namespaces are opted in: those with the label. It may come and go at any time. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { type KubeClient, metadataOnly } from "../kube/client.ts";
import { optInLabel } from "../kube/domain.ts";
import { Namespace } from "../kube/kind.ts";

/** What is done in opted-in namespaces. */
export interface OptedInOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Begins in a namespace; returns what ends it there, which resolves when it has ended. */
  readonly enter: (namespace: string) => () => Promise<void>;
  /** Called with why the namespaces can not be listed, and with undefined when they are again. */
  readonly onTrouble: (error: Error | undefined) => void;
}

/** A label is set seldom, and nobody is kept waiting by a few seconds. */
const lookMillis = 5000;

/** Looks every few seconds which namespaces are opted in, until `signal` aborts. While nobody can tell, they stay. */
export async function followOptedIn(options: OptedInOptions): Promise<void> {
  const { client, signal, log, enter, onTrouble } = options;
  const inside = new Map<string, () => Promise<void>>();
  let told: string | undefined;
  while (!signal.aborted) {
    try {
      const labelled = await optedInNamespaces(client, signal);
      onTrouble(undefined);
      told = undefined;
      const entered = [...labelled].filter((namespace) => !inside.has(namespace));
      const left = [...inside.keys()].filter((namespace) => !labelled.has(namespace));
      if (entered.length + left.length > 0) log.info({ entered, left }, "other namespaces are opted in now");
      // Whoever comes back is not met by what is still ending.
      await Promise.all(left.map((namespace) => inside.get(namespace)?.()));
      for (const namespace of left) inside.delete(namespace);
      for (const namespace of entered) inside.set(namespace, enter(namespace));
    } catch (error) {
      if (signal.aborted) break;
      const { message } = error as Error;
      log[told === message ? "debug" : "warn"](
        { err: error, known: [...inside.keys()] },
        "namespaces not listed, going on with those that are known",
      );
      told = message;
      onTrouble(error as Error);
    }
    await sleep(lookMillis * (0.8 + 0.4 * Math.random()), undefined, { signal }).catch(() => undefined);
  }
  await Promise.all([...inside.values()].map((leave) => leave()));
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
