/** Counts events and reconciles on the bus every second, so that charts show the last minutes when a page opens. */
import type { Subscription } from "@nats-io/transport-node";
import {
  activity,
  activitySchema,
  type Bus,
  kindSubjects,
  type ObjectKey,
  parseKeySubject,
} from "denrei/bus";
import { kindText } from "denrei/kinds";
import { kindsOf, type ReconcileFunction } from "denrei/runtime";
import type { FunctionSample, LiveSample } from "../../api/bus.ts";
import { percentileWindow, type Window } from "./percentiles.ts";

/** Options of {@link startLive}. */
export interface LiveOptions {
  readonly bus: Pick<Bus, "nc">;
  readonly cluster: string;
  readonly functions: readonly ReconcileFunction[];
  /** Called for every finished reconcile. */
  readonly onReconcile: (fn: string, activity: CountedActivity, key: ObjectKey) => void;
  readonly onError: (error: unknown) => void;
}

/** The counters. */
export interface Live {
  /** Oldest first. */
  past(): readonly LiveSample[];
  /** Resolves at the next sample, or when the signal aborts. */
  tick(signal: AbortSignal): Promise<void>;
  stop(): void;
}

/** The length of the percentile window. */
export const windowSeconds = 30;
const keptSeconds = 15 * 60;

const countedSchema = activitySchema.pick({ outcome: true, waitedMillis: true, tookMillis: true });

/** What is counted of a finished reconcile. */
export type CountedActivity = ReturnType<typeof countedSchema.parse>;

interface FunctionCounts {
  reconciles: number;
  errors: number;
  readonly waited: Window;
  readonly took: Window;
  readonly total: Window;
}

interface Counters {
  /** Events of the current second, by kind. */
  events: Record<string, number>;
  readonly byFunction: Map<string, FunctionCounts>;
  /** Oldest first. */
  readonly samples: LiveSample[];
  /** Resolves at the next sample. */
  next: PromiseWithResolvers<void>;
}

/** Starts counting. */
export function startLive(options: LiveOptions): Live {
  const counters: Counters = {
    events: {},
    byFunction: new Map(),
    samples: [],
    next: Promise.withResolvers(),
  };
  const subscriptions = [...countEvents(options, counters), countReconciles(options, counters)];
  const timer = setInterval(() => addSample(counters), 1000);
  return {
    past: () => counters.samples,
    async tick(signal) {
      const aborted = Promise.withResolvers<void>();
      const abort = (): void => aborted.resolve();
      signal.addEventListener("abort", abort, { once: true });
      await Promise.race([counters.next.promise, aborted.promise]);
      signal.removeEventListener("abort", abort);
    },
    stop() {
      clearInterval(timer);
      for (const subscription of subscriptions) if (!subscription.isClosed()) subscription.unsubscribe();
    },
  };
}

/** Subscribes to each kind separately, so that messages need no parsing. */
function countEvents({ bus, cluster, functions, onError }: LiveOptions, counters: Counters): Subscription[] {
  const kinds = new Map(functions.flatMap(kindsOf).map((kind) => [kindText(kind), kind]));
  return [...kinds].map(([name, kind]) =>
    bus.nc.subscribe(kindSubjects(cluster, kind), {
      callback(error) {
        if (error !== null) return onError(error);
        counters.events[name] = (counters.events[name] ?? 0) + 1;
      },
    }),
  );
}

function countReconciles(
  { bus, cluster, onReconcile, onError }: LiveOptions,
  { byFunction }: Counters,
): Subscription {
  return bus.nc.subscribe(activity.every(cluster), {
    callback(error, message) {
      if (error !== null) return onError(error);
      try {
        const { fn, key } = parseKeySubject(message.subject);
        const counted = countedSchema.parse(message.json());
        if (counted.outcome === "slowed_down") return;
        countReconcile(byFunction, fn, counted);
        onReconcile(fn, counted, key);
      } catch {
        // Not an activity record. An error thrown here would stop all subscriptions of the connection.
      }
    },
  });
}

function countReconcile(
  byFunction: Map<string, FunctionCounts>,
  fn: string,
  { outcome, waitedMillis, tookMillis }: CountedActivity,
): void {
  const counts = byFunction.get(fn) ?? noCounts();
  byFunction.set(fn, counts);
  counts.reconciles++;
  if (outcome === "retry" || outcome === "dead_lettered") counts.errors++;
  counts.waited.add(waitedMillis);
  counts.took.add(tookMillis);
  counts.total.add(waitedMillis + tookMillis);
}

const noCounts = (): FunctionCounts => ({
  reconciles: 0,
  errors: 0,
  waited: percentileWindow(windowSeconds),
  took: percentileWindow(windowSeconds),
  total: percentileWindow(windowSeconds),
});

/** Ends the current second. */
function addSample(counters: Counters): void {
  const { byFunction, samples } = counters;
  const functions: Record<string, FunctionSample> = {};
  for (const [fn, counts] of byFunction) {
    const sample = sampleOf(counts);
    if (sample === undefined) byFunction.delete(fn);
    else functions[fn] = sample;
    counts.reconciles = 0;
    counts.errors = 0;
    for (const window of [counts.waited, counts.took, counts.total]) window.tick();
  }
  // A timer may fire early, but two samples must not have the same second.
  const at = Math.max(Math.floor(Date.now() / 1000), (samples.at(-1)?.at ?? 0) + 1);
  samples.push({ at, events: counters.events, functions });
  counters.events = {};
  if (samples.length > keptSeconds) samples.shift();
  counters.next.resolve();
  counters.next = Promise.withResolvers();
}

/** Undefined if the function had no reconcile in the window. */
function sampleOf({ reconciles, errors, waited, took, total }: FunctionCounts): FunctionSample | undefined {
  const spreads = { waited: waited.spread(), took: took.spread(), total: total.spread() };
  if (!spreads.waited || !spreads.took || !spreads.total) return undefined;
  return { reconciles, errors, waited: spreads.waited, took: spreads.took, total: spreads.total };
}
