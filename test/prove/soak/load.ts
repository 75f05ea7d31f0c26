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
  /** Completed songs. */
  readonly sung: number;
  /** Starts skipped because all names were in use. */
  readonly skipped: number;
  /** Songs not yet seen to be complete. */
  readonly open: number;
  stop(): Promise<void>;
}

/** Names are reused; this is the limit of concurrent songs. */
const names = namesOf("soak", 200);
const cluster = "default";

/** Starts `perSecond` songs a second. */
export async function startLoad(arena: BenchEnvironment, perSecond: number): Promise<Load> {
  const { client, bus, namespace, signal } = arena;
  const free = [...names];
  const underWay = new Map<string, string>();
  const ending = new AbortController();
  const clearing = new Set<Promise<void>>();
  let sung = 0;
  let skipped = 0;

  async function remove(kind: Kind, name: string): Promise<void> {
    await client.delete(kind, { namespace, name }, { signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }

  /** Deletes the song and its tombstones, whose 72 hours would make the bus grow for as long. */
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

  const unwatch = await watchKind(arena, Hikawa, (hikawa, type) => {
    const { name, uid } = hikawa.metadata;
    if (type === "ADDED" || !isKiyoshied(hikawa) || underWay.get(name) !== uid) return;
    underWay.delete(name);
    sung++;
    const cleared = clear(name, uid).catch((error: Error) => {
      if (!signal.aborted) arena.fail(error);
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
        void createHikawa(arena, name, 0).then(
          ({ metadata }) => underWay.set(name, metadata.uid),
          (error: Error) => {
            if (!signal.aborted) arena.fail(error);
          },
        );
    }
  })();

  return {
    get sung() {
      return sung;
    },
    get skipped() {
      return skipped;
    },
    get open() {
      return underWay.size;
    },
    async stop() {
      ending.abort();
      await done;
      unwatch();
      await Promise.all(clearing);
    },
  };
}
