/**
 * Returns memory to the system while a process is idle. V8 collects garbage only when code allocates, so an idle process would keep
 * what its start or its last load needed.
 */
import { onBeat } from "../values/eventloop.ts";

/** Beats between two checks: five seconds. */
const checkBeats = 20;
/** A process is idle if its event loop was busy for less than this share of the time since the last check. */
const idleShare = 0.1;
/** Growth since the last collection that is worth another one. Bytes. */
const growthBytes = 8e6;
/** Larger heaps are left to V8: a collection blocks the event loop for one to two milliseconds per megabyte. Bytes. */
const largestHeapBytes = 128e6;

/** A collection that returned memory. */
export interface Returned {
  /** Resident memory before and after, in bytes. */
  readonly before: number;
  readonly after: number;
  /** How long the event loop was blocked, in milliseconds. */
  readonly millis: number;
}

/**
 * Starts to check, and calls back after each collection. Returns the function that stops it. Does nothing unless Node runs with
 * `--expose-gc`, as it does in images.
 */
export function returnIdleMemory(onReturned: (returned: Returned) => void): () => void {
  const { gc } = globalThis;
  if (gc === undefined) return () => undefined;
  let beats = 0;
  let busy = performance.eventLoopUtilization();
  /** Resident memory after the last collection, in bytes. */
  let least = 0;
  return onBeat(() => {
    if (++beats % checkBeats > 0) return;
    const { utilization } = performance.eventLoopUtilization(busy);
    busy = performance.eventLoopUtilization();
    const before = process.memoryUsage.rss();
    if (before < least) least = before;
    if (utilization > idleShare || before < least + growthBytes) return;
    if (process.memoryUsage().heapUsed > largestHeapBytes) return;
    const began = performance.now();
    // Only this flavor shrinks the space of young objects, and returns the pages that are free.
    gc({ type: "major", execution: "sync", flavor: "last-resort" });
    least = process.memoryUsage.rss();
    onReturned({ before, after: least, millis: performance.now() - began });
  });
}
