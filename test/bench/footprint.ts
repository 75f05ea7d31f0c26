/** The memory that an idle process needs. */

import type { Replica } from "../harness/environment.ts";
import { pidOf } from "./contender.ts";
import { idleRssOf, measure } from "./processes.ts";
import { collectGarbage, heapBytes, profilerSocket } from "./profiler/profiler.ts";

/** Memory of a process. */
export interface Footprint {
  /** Resident before a collection, in MB (10^6 bytes). */
  readonly uncollected: number;
  /** Resident after a forced garbage collection, in MB. */
  readonly collected: number;
  /** Peak resident memory since the process started, in MB. */
  readonly peak: number;
  /** V8's heap and array buffers after the collection, in bytes. */
  readonly heldBytes: number;
}

/**
 * Measures a replica that was started with the environment `profilerEnv(directory)`. The kernel and V8 free memory some
 * seconds late, so the lowest sample of `sampleMillis` counts.
 */
export async function footprintOf(
  replica: Replica,
  directory: string,
  sampleMillis: number,
  signal: AbortSignal,
): Promise<Footprint> {
  const pid = pidOf(replica);
  const pids = new Map([[replica.name, pid]]);
  const usage = measure(pids)().get(replica.name);
  if (usage === undefined) throw new Error(`no memory figures for ${replica.name}`);
  const profiler = profilerSocket(directory, pid);
  await collectGarbage(profiler);
  const least = await idleRssOf(pids, { millis: sampleMillis, signal });
  // The process keeps running while it is sampled, which takes long on a busy machine.
  await collectGarbage(profiler);
  return {
    uncollected: usage.rssMegabytes,
    peak: usage.peakMegabytes,
    collected: least.get(replica.name) ?? Number.NaN,
    heldBytes: await heapBytes(profiler),
  };
}
