/** Hikawas that are created, completed, and deleted at a steady rate, so that their number stays constant. */
import { setTimeout as sleep } from "node:timers/promises";
import { isNotFound } from "../../../bus/kube/errors.ts";
import type { Kind } from "../../../bus/kube/kind.ts";
import { streams, token } from "../../../bus/subjects.ts";
import { Hikawa, Kiyoshi, Zundoko } from "../../../functions/zundoko/kinds.ts";
import { words } from "../../bench/contender.ts";
import type { BenchEnvironment } from "../../bench/environment.ts";
import { createHikawa, isKiyoshied, namesOf, watchKind } from "../../bench/hikawas.ts";

/** A running load. */
export interface Load {
  /** Completed Hikawas. */
  readonly completed: number;
  /** Starts skipped because all names were in use. */
  readonly skipped: number;
  /** Hikawas in progress. */
  readonly open: number;
  stop(): Promise<void>;
}

/** Names are reused; this limits the concurrent Hikawas. */
const names = namesOf("soak", 200);
const cluster = "default";

/** Creates `perSecond` Hikawas a second. */
export async function startLoad(environment: BenchEnvironment, perSecond: number): Promise<Load> {
  const { client, bus, namespace, signal } = environment;
  const free = [...names];
  const inProgress = new Map<string, string>();
  const ending = new AbortController();
  const clearing = new Set<Promise<void>>();
  let completed = 0;
  let skipped = 0;

  async function remove(kind: Kind, name: string): Promise<void> {
    await client.delete(kind, { namespace, name }, { signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }

  /** Deletes the Hikawa and its tombstones. Tombstones live for 72 hours, so the bus would grow for that long. */
  async function clear(name: string, uid: string): Promise<void> {
    await remove(Hikawa, name);
    const children = words.map((_, at) => `${name}-zundoko-${String(at + 1).padStart(3, "0")}`);
    await Promise.all([
      ...children.map((child) => remove(Zundoko, child)),
      remove(Kiyoshi, `${name}-kiyoshi`),
    ]);
    // After the bridge, which may be some seconds late on a busy machine.
    await sleep(4000, undefined, { signal });
    const filter = `objects.${token(cluster)}.*.*.${token(namespace)}.${token(uid)}.*`;
    await bus.jsm.streams.purge(streams.objects, { filter });
    free.push(name);
  }

  const unwatch = await watchKind(environment, Hikawa, (hikawa, type) => {
    const { name, uid } = hikawa.metadata;
    if (type === "ADDED" || !isKiyoshied(hikawa) || inProgress.get(name) !== uid) return;
    inProgress.delete(name);
    completed++;
    const cleared = clear(name, uid).catch((error: Error) => {
      if (!signal.aborted) environment.fail(error);
    });
    clearing.add(cleared);
    void cleared.finally(() => clearing.delete(cleared));
  });

  const done = (async () => {
    const begun = performance.now();
    for (let beat = 0; !ending.signal.aborted; beat++) {
      const wait = begun + (beat * 1000) / perSecond - performance.now();
      if (wait > 0) await sleep(wait, undefined, { signal: ending.signal, ref: true }).catch(() => undefined);
      const name = free.shift();
      if (name === undefined) skipped++;
      else
        void createHikawa(environment, name, 0).then(
          ({ metadata }) => inProgress.set(name, metadata.uid),
          (error: Error) => {
            if (!signal.aborted) environment.fail(error);
          },
        );
    }
  })();

  return {
    get completed() {
      return completed;
    },
    get skipped() {
      return skipped;
    },
    get open() {
      return inProgress.size;
    },
    async stop() {
      ending.abort();
      await done;
      unwatch();
      await Promise.all(clearing);
    },
  };
}
