/** Counts the figures of every function while the process runs. */
import { type Bus, queueLengths } from "denrei/bus";
import type { ReconcileFunction } from "denrei/runtime";
import { FunctionCounter, readSeconds } from "./functionseries.ts";
import type { CountedActivity } from "./live.ts";

/** Options of {@link startFunctionCounters}. */
export interface FunctionCountersOptions {
  readonly bus: Bus;
  readonly cluster: string;
  readonly functions: readonly ReconcileFunction[];
  readonly onError: (error: unknown) => void;
}

/** The counters. */
export interface FunctionCounters {
  /** Undefined for an unknown function. */
  of(fn: string): FunctionCounter | undefined;
  reconciled(fn: string, activity: CountedActivity): void;
  stop(): void;
}

const seconds = (): number => Date.now() / 1000;

/** Starts counting. Reads the queues periodically, which is a few requests per function however long its queue is. */
export function startFunctionCounters(options: FunctionCountersOptions): FunctionCounters {
  const { functions } = options;
  const start = seconds();
  const counters = new Map(functions.map(({ name }) => [name, new FunctionCounter(start)]));
  const readQueues = queueReader(options, counters);
  let lastRead = 0;
  const timer = setInterval(() => {
    const now = seconds();
    for (const counter of counters.values()) counter.advance(now);
    const step = Math.floor(now / readSeconds);
    if (step !== lastRead) void readQueues();
    lastRead = step;
  }, 1000);
  return {
    of: (fn) => counters.get(fn),
    reconciled: (fn, activity) => counters.get(fn)?.reconciled(seconds(), activity),
    stop: () => clearInterval(timer),
  };
}

/** Reads all queues, unless the previous read is still running. Reports the first error of an outage only. */
function queueReader(
  { bus, cluster, functions, onError }: FunctionCountersOptions,
  counters: ReadonlyMap<string, FunctionCounter>,
): () => Promise<void> {
  let isReading = false;
  let isFailing = false;
  return async () => {
    if (isReading) return;
    isReading = true;
    try {
      await Promise.all(
        functions.map(async (fn) => {
          const lengths = await queueLengths(bus, fn, cluster);
          counters.get(fn.name)?.queueRead(seconds(), lengths);
        }),
      );
      isFailing = false;
    } catch (error) {
      if (!isFailing) onError(error);
      isFailing = true;
    } finally {
      isReading = false;
    }
  };
}
