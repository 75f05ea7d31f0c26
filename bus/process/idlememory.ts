/**
 * Returns memory to the system while a process is idle. V8 collects garbage only when code allocates, so an idle process would keep
 * what its start or its last load needed.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { onBeat } from "../values/eventloop.ts";

/** When to collect. */
export interface CollectingLimits {
  /** Beats of the process between two checks. */
  readonly checkBeats: number;
  /** Collections take at most this share of the time. */
  readonly share: number;
}

/** A check every five seconds. */
const defaultLimits: CollectingLimits = { checkBeats: 20, share: 0.001 };
/** A process is idle if its event loop was busy for less than this share of the time since the last check. */
const idleShare = 0.1;
/** Growth since the last collection that is worth another one. Bytes. */
const growthBytes = 8e6;
/**
 * Larger heaps are left to V8, because a collection blocks the event loop for about two milliseconds per megabyte of live objects.
 * How much is live is known only after it. Bytes.
 */
const largestHeapBytes = 256e6;

/** A collection that returned memory. */
export interface Returned {
  /** Resident memory before and after, in bytes. */
  readonly before: number;
  readonly after: number;
  /** How long the event loop was blocked, in milliseconds. */
  readonly millis: number;
}

/**
 * Starts to check, and calls back after each collection. Returns the function that stops it. Does nothing unless `NODE_ENV` is
 * `production`, as it is in images.
 */
export function returnIdleMemory(
  onReturned: (returned: Returned) => void,
  { checkBeats, share } = defaultLimits,
): () => void {
  if (process.env.NODE_ENV !== "production") return () => undefined;
  let gc: NodeJS.GCFunction | undefined;
  let beats = 0;
  let last = performance.eventLoopUtilization();
  /** Resident memory after the last collection, in bytes. */
  let least = 0;
  /** When the next collection may begin, by `performance.now()`. */
  let next = 0;
  return onBeat(() => {
    if (++beats % checkBeats > 0) return;
    const { utilization } = performance.eventLoopUtilization(last);
    last = performance.eventLoopUtilization();
    const before = process.memoryUsage.rss();
    if (before < least) least = before;
    if (utilization > idleShare || before < least + growthBytes) return;
    const began = performance.now();
    if (began < next || process.memoryUsage().heapUsed > largestHeapBytes) return;
    gc ??= exposedGc();
    // Only this flavor shrinks the space of young objects, and returns the pages that are free.
    gc({ type: "major", execution: "sync", flavor: "last-resort" });
    least = process.memoryUsage.rss();
    const millis = performance.now() - began;
    next = began + millis / share;
    onReturned({ before, after: least, millis });
  });
}

/** With the flag on its command line, Node would start 45 ms later: it would not use the compiled code of its own modules. */
function exposedGc(): NodeJS.GCFunction {
  setFlagsFromString("--expose-gc");
  const gc: NodeJS.GCFunction = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  return gc;
}
