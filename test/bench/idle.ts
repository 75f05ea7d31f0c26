/** What a contender needs in memory for Hikawas that have nothing to do. */
import type { Arena } from "./arena.ts";
import type { Contender, Running, Side } from "./contender.ts";
import { createHikawas, isKiyoshied, namesOf, waitForHikawas } from "./hikawas.ts";
import { idleRssOf, rssOf } from "./processes.ts";
import { verifySongs } from "./verify.ts";

/** Resident memory by role, in MB. */
export type Memory = ReadonlyMap<string, number>;

/** Memory of a contender that does nothing. */
export interface Idle {
  /** As it is after a while. */
  readonly settled: Memory;
  /** After a garbage collection that was forced, of the processes that have one to force. */
  readonly collected: Memory;
}

/** Memory of each process of a contender. */
export interface IdleMemory {
  readonly side: Side;
  /** Ready, and nothing done yet. */
  readonly started: Memory;
  /** Warm from work, and no Hikawa exists. */
  readonly empty: Idle;
  /** All Hikawas idle. */
  readonly full: Idle;
}

/**
 * What is sung, and how many of the idle Hikawas are made and deleted, before the first measurement: compiled code and a
 * heap that has grown with the load are no cost of an object that is there.
 */
const warmUp = { songs: 300, idleShare: 0.25 };
/** Samples are taken for so long: V8 returns memory some seconds after the last work, and caches of seconds run out. */
const sampleMillis = 45_000;
const collectedSampleMillis = 5000;
/** The next word is tomorrow's. */
const dayMillis = 86_400_000;

/** Starts the contender and measures it without Hikawas and with `count` of them, each waiting for tomorrow. */
export async function idleMemory(arena: Arena, contender: Contender, count: number): Promise<IdleMemory> {
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

async function rest({ signal }: Arena, running: Running): Promise<Idle> {
  await running.settled();
  const settled = await idleRssOf(running.pids, { millis: sampleMillis, signal });
  const roles = await running.collectGarbage();
  const pids = new Map([...running.pids].filter(([role]) => roles.includes(role)));
  return { settled, collected: await idleRssOf(pids, { millis: collectedSampleMillis, signal }) };
}

async function sing(arena: Arena): Promise<void> {
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

/** Ours says the first word at once and Go waits before it too; both have wanted it by then. */
async function fallAsleep(arena: Arena, names: readonly string[]): Promise<void> {
  const waiting = await waitForHikawas(arena, names, ({ spec }) => spec.numZundokos === 1);
  try {
    await createHikawas(arena, names, dayMillis);
    await waiting.all();
  } finally {
    waiting.stop();
  }
}
