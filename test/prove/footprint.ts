/** What a process needs when it does nothing. */
import { collectGarbage, heapBytes, inspectorArgument, inspectorUrl } from "../bench/inspector.ts";
import { idleRssOf, measure } from "../bench/processes.ts";
import type { Replica } from "../harness/kit.ts";

/** Lets a replica be looked into: for its environment. */
export const inspected = { NODE_OPTIONS: inspectorArgument };

/** Memory of a process. */
export interface Footprint {
  /** Resident, as it is, in MB (10^6 bytes). */
  readonly asItIs: number;
  /** Resident, after a forced collection of garbage, in MB. */
  readonly collected: number;
  /** The most that was ever resident since it started, in MB. */
  readonly peak: number;
  /** What V8's heap and array buffers hold after it, in bytes. */
  readonly heldBytes: number;
}

/**
 * Measures a replica that was started with {@link inspected}. The kernel and V8 give memory back within seconds: the
 * least of what is seen in `sampleMillis` counts.
 */
export async function footprintOf(
  replica: Replica,
  sampleMillis: number,
  signal: AbortSignal,
): Promise<Footprint> {
  const pids = new Map([[replica.name, pidOf(replica)]]);
  const usage = measure(pids)().get(replica.name);
  const url = replica.log.all.map(inspectorUrl).findLast((found) => found !== undefined);
  if (url === undefined || usage === undefined)
    throw new Error(`expected ${replica.name} to run with an inspector, but it names none`);
  await collectGarbage(url);
  const least = await idleRssOf(pids, { millis: sampleMillis, signal });
  return {
    asItIs: usage.rssMegabytes,
    peak: usage.peakMegabytes,
    collected: least.get(replica.name) ?? Number.NaN,
    heldBytes: await heapBytes(url),
  };
}

/** The id of a process that runs. */
export function pidOf({ name, pid }: Pick<Replica, "name" | "pid">): number {
  if (pid === undefined) throw new Error(`expected ${name} to run`);
  return pid;
}
