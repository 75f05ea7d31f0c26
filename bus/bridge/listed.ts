/** Which kinds the installation lists. Its configuration may change at any time. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { KubeClient } from "../kube/client.ts";
import { apiVersionOf, ConfigMap, type Kind, kindText } from "../kube/kind.ts";
import type { ListedFor, ListedKinds } from "../kube/listedkinds.ts";

/** What is done with listed kinds. */
export interface ListedOptions {
  readonly client: Pick<KubeClient, "list">;
  /** Where the ConfigMaps are. */
  readonly platformNamespace: string;
  readonly lists: readonly ListedFor[];
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Prepares for the kinds that a function lists now, before any of them is watched. Rejects when it has to be tried again. */
  readonly prepare: (fn: string, kinds: readonly Kind[]) => Promise<void>;
  /** Begins with a kind; returns what ends it when it is no longer listed. */
  readonly enter: (kind: Kind, listed: ListedKinds) => (why: "unlisted" | "stopped") => Promise<void>;
  /** From one look to the next, in milliseconds. */
  readonly everyMillis?: number;
}

const nameOf = (kind: Kind): string => `${apiVersionOf(kind)} ${kind.kind} ${kind.plural}`;

/**
 * Looks every few seconds which kinds are listed, until `signal` aborts. While a list cannot be read, or is not valid, the
 * known kinds stay.
 */
export async function followListed(options: ListedOptions): Promise<void> {
  const { signal, log, everyMillis = 5000 } = options;
  const inside = new Map<string, ReturnType<ListedOptions["enter"]>>();
  const kindsOf = new Map<string, readonly Kind[]>();
  const known = new Map<string, string>();
  const problems = new Map<string, string>();

  async function follow({ fn, listed }: ListedFor): Promise<void> {
    const { version, data } = await read(options, listed.configMap);
    if (known.get(fn) === version) return;
    const kinds = listed.kindsIn(data);
    await options.prepare(fn, kinds);
    kindsOf.set(fn, kinds);
    const wanted = new Map([...kindsOf.values()].flat().map((kind) => [nameOf(kind), kind]));
    const left = [...inside.keys()].filter((name) => !wanted.has(name));
    const entered = [...wanted].filter(([name]) => !inside.has(name));
    if (entered.length + left.length > 0)
      log.info({ entered: entered.map(([, kind]) => kindText(kind)), left }, "listed kinds changed");
    await Promise.all(left.map((name) => inside.get(name)?.("unlisted")));
    for (const name of left) inside.delete(name);
    for (const [name, kind] of entered) inside.set(name, options.enter(kind, listed));
    known.set(fn, version);
  }

  while (!signal.aborted) {
    for (const list of options.lists) {
      const { configMap } = list.listed;
      try {
        await follow(list);
        problems.delete(configMap);
      } catch (error) {
        if (signal.aborted) break;
        const { message } = error as Error;
        log[problems.get(configMap) === message ? "debug" : "warn"](
          { err: error, configMap, known: [...inside.keys()] },
          "listed kinds not read, keeping those that are known",
        );
        problems.set(configMap, message);
      }
    }
    await sleep(everyMillis * (0.8 + 0.4 * Math.random()), undefined, { signal }).catch(() => undefined);
  }
  await Promise.all([...inside.values()].map((leave) => leave("stopped")));
}

/** The content of a ConfigMap. The bridge may list ConfigMaps, and has no right to get one. */
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
