/** Follows the kinds that the installation lists. Its configuration may change at any time. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { KubeClient } from "../kube/client.ts";
import { apiVersionOf, ConfigMap, type Kind, kindText } from "../kube/kind.ts";
import type { ListedFor, ListedKinds } from "../kube/listedkinds.ts";

/** Options of {@link followListed}. */
export interface ListedOptions {
  readonly client: Pick<KubeClient, "list">;
  /** Namespace of the ConfigMaps. */
  readonly platformNamespace: string;
  readonly lists: readonly ListedFor[];
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Prepares for the kinds that a function now lists, before they are watched. If it rejects, it is retried. */
  readonly prepare: (fn: string, kinds: readonly Kind[]) => Promise<void>;
  /** Starts a kind. Returns the function that ends it. */
  readonly enter: (kind: Kind, listed: ListedKinds) => (why: "unlisted" | "stopped") => Promise<void>;
  /** Poll interval in milliseconds. */
  readonly everyMillis?: number;
}

const nameOf = (kind: Kind): string => `${apiVersionOf(kind)} ${kind.kind} ${kind.plural}`;

/**
 * Polls the lists of kinds every few seconds until `signal` aborts. If a list cannot be read or is invalid, the known
 * kinds stay.
 */
export async function followListed(options: ListedOptions): Promise<void> {
  const { signal, log, everyMillis = 5000 } = options;
  const running = new Map<string, ReturnType<ListedOptions["enter"]>>();
  const kindsOf = new Map<string, readonly Kind[]>();
  const known = new Map<string, string>();
  const lastErrors = new Map<string, string>();

  async function follow({ fn, listed }: ListedFor): Promise<void> {
    const { version, data } = await read(options, listed.configMap);
    if (known.get(fn) === version) return;
    const kinds = listed.kindsIn(data);
    await options.prepare(fn, kinds);
    kindsOf.set(fn, kinds);
    const current = new Map([...kindsOf.values()].flat().map((kind) => [nameOf(kind), kind]));
    const left = [...running.keys()].filter((name) => !current.has(name));
    const entered = [...current].filter(([name]) => !running.has(name));
    if (entered.length + left.length > 0)
      log.info({ entered: entered.map(([, kind]) => kindText(kind)), left }, "listed kinds changed");
    await Promise.all(left.map((name) => running.get(name)?.("unlisted")));
    for (const name of left) running.delete(name);
    for (const [name, kind] of entered) running.set(name, options.enter(kind, listed));
    known.set(fn, version);
  }

  while (!signal.aborted) {
    for (const list of options.lists) {
      const { configMap } = list.listed;
      try {
        await follow(list);
        lastErrors.delete(configMap);
      } catch (error) {
        if (signal.aborted) break;
        const { message } = error as Error;
        log[lastErrors.get(configMap) === message ? "debug" : "warn"](
          { err: error, configMap, known: [...running.keys()] },
          "failed to read listed kinds, keeping the known ones",
        );
        lastErrors.set(configMap, message);
      }
    }
    await sleep(everyMillis * (0.8 + 0.4 * Math.random()), undefined, { signal }).catch(() => undefined);
  }
  await Promise.all([...running.values()].map((leave) => leave("stopped")));
}

/** Reads a ConfigMap. The bridge may list ConfigMaps, but not get them. */
async function read(
  { client, platformNamespace, signal }: ListedOptions,
  name: string,
): Promise<{ readonly version: string; readonly data: Readonly<Record<string, string>> }> {
  const query = { fieldSelector: `metadata.name=${name}` };
  const { items } = await client.list(ConfigMap, platformNamespace, query, signal);
  const [found] = items;
  if (found === undefined) return { version: "none", data: {} };
  const { uid, resourceVersion } = found.metadata;
  return { version: `${uid} ${resourceVersion}`, data: found.data ?? {} };
}
