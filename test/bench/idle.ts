/** Memory that a contender needs for idle Hikawas. */

import type { Contender, Running, Side } from "./contender.ts";
import type { BenchEnvironment } from "./environment.ts";
import { createHikawas, isKiyoshied, namesOf, waitForHikawas } from "./hikawas.ts";
import { idleRssOf, rssOf } from "./processes.ts";
import { verifySongs } from "./verify.ts";

/** Resident memory by role, in MB. */
export type Memory = ReadonlyMap<string, number>;

/** Memory of an idle contender. */
export interface Idle {
  /** After some seconds. */
  readonly settled: Memory;
  /** After a forced garbage collection, of the processes that support it. */
  readonly collected: Memory;
}

/** Memory of each process of a contender. */
export interface IdleMemory {
  readonly side: Side;
  /** Ready, before any work. */
  readonly started: Memory;
  /** Warm from work, without Hikawas. */
  readonly empty: Idle;
  /** All Hikawas idle. */
  readonly full: Idle;
}

/**
 * The songs completed, and the share of idle Hikawas created and deleted, before the first measurement, so that compiled code and a
 * heap grown under load do not count as a cost of objects.
 */
const warmUp = { songs: 300, idleShare: 0.25 };
/** Duration of the sampling: V8 returns memory some seconds after the last work, and short-lived caches expire. */
const sampleMillis = 45_000;
const collectedSampleMillis = 5000;
/** The next word comes tomorrow. */
const dayMillis = 86_400_000;

/** Starts the contender and measures it without Hikawas, and with `count` of them that each wait for tomorrow. */
export async function idleMemory(
  arena: BenchEnvironment,
  contender: Contender,
  count: number,
): Promise<IdleMemory> {
  const running = await contender.start("idle");
  try {
    await running.settled();
    const started = rssOf(running.pids);
    await sing(arena);
    await fallAsleep(arena, namesOf("doze", Math.ceil(count * warmUp.idleShare)));
    await arena.clearObjects();
    const empty = await rest(arena, running);
    await fallAsleep(arena, namesOf("idle", count));
    return { side: contender.side, started, empty, full: await rest(arena, running) };
  } finally {
    await running.stop();
  }
}

async function rest({ signal }: BenchEnvironment, running: Running): Promise<Idle> {
  await running.settled();
  const settled = await idleRssOf(running.pids, { millis: sampleMillis, signal });
  const roles = await running.collectGarbage();
  const pids = new Map([...running.pids].filter(([role]) => roles.includes(role)));
  return { settled, collected: await idleRssOf(pids, { millis: collectedSampleMillis, signal }) };
}

async function sing(arena: BenchEnvironment): Promise<void> {
  const names = namesOf("warm", warmUp.songs);
  const songs = await waitForHikawas(arena, names, isKiyoshied);
  try {
    await createHikawas(arena, names, 0);
    await songs.all();
  } finally {
    songs.stop();
  }
  await verifySongs(arena, names);
}

/** Our side emits the first word at once, and Go waits for it; both have reconciled every Hikawa by then. */
async function fallAsleep(arena: BenchEnvironment, names: readonly string[]): Promise<void> {
  const waiting = await waitForHikawas(arena, names, ({ spec }) => spec.numZundokos === 1);
  try {
    await createHikawas(arena, names, dayMillis);
    await waiting.all();
  } finally {
    waiting.stop();
  }
}
