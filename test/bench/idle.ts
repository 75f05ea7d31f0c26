/** Memory that a contender needs for idle Hikawas. */

import type { Contender, Running, Side } from "./contender.ts";
import type { BenchEnvironment } from "./environment.ts";
import { createHikawas, isKiyoshied, namesOf, waitForHikawas } from "./hikawas.ts";
import { idleRssOf, rssOf } from "./processes.ts";
import { verifyHikawas } from "./verify.ts";

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
 * Before the first measurement, this many Hikawas are completed, and this share of the idle ones is created and deleted. Compiled code
 * and a heap grown under load then do not count as a cost of objects.
 */
const warmUp = { completed: 300, idleShare: 0.25 };
/** Duration of the sampling: V8 returns memory some seconds after the last work, and short-lived caches expire. */
const sampleMillis = 45_000;
const collectedSampleMillis = 5000;
/** The next word comes tomorrow. */
const dayMillis = 86_400_000;

/** Starts the contender and measures it without Hikawas, and with `count` of them that each wait for tomorrow. */
export async function idleMemory(
  environment: BenchEnvironment,
  contender: Contender,
  count: number,
): Promise<IdleMemory> {
  const running = await contender.start("idle");
  try {
    await running.settled();
    const started = rssOf(running.pids);
    await completeHikawas(environment);
    await createIdle(environment, namesOf("doze", Math.ceil(count * warmUp.idleShare)));
    await environment.clearObjects();
    const empty = await rest(environment, running);
    await createIdle(environment, namesOf("idle", count));
    return { side: contender.side, started, empty, full: await rest(environment, running) };
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

async function completeHikawas(environment: BenchEnvironment): Promise<void> {
  const names = namesOf("warm", warmUp.completed);
  const waiting = await waitForHikawas(environment, names, isKiyoshied);
  try {
    await createHikawas(environment, names, 0);
    await waiting.all();
  } finally {
    waiting.stop();
  }
  await verifyHikawas(environment, names);
}

/** Creates Hikawas, and waits until each is reconciled. Ours has emitted its first word by then, and Go waits for its first word. */
async function createIdle(environment: BenchEnvironment, names: readonly string[]): Promise<void> {
  const waiting = await waitForHikawas(environment, names, ({ spec }) => spec.numZundokos === 1);
  try {
    await createHikawas(environment, names, dayMillis);
    await waiting.all();
  } finally {
    waiting.stop();
  }
}
