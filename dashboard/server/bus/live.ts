/** Counts the events and reconciles on the bus every second while the server runs, so that charts start with a past. */
import { activitySchema } from "../../../bus/activity/record.ts";
import { kindText } from "../../../bus/kube/kind.ts";
import type { Bus } from "../../../bus/nats/connect.ts";
import { activity, kindSubjects, parseKeySubject } from "../../../bus/subjects.ts";
import { kindsOf, type ReconcileFunction } from "../../../bus/worker/function.ts";
import type { FunctionSample, LiveSample } from "../../api/bus.ts";
import { openWindow, type Window } from "./window.ts";

/** Options of {@link startLive}. */
export interface LiveOptions {
  readonly bus: Pick<Bus, "nc">;
  readonly cluster: string;
  readonly functions: readonly ReconcileFunction[];
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

/** The fields of an activity record that are counted. */
const countedSchema = activitySchema.pick({ outcome: true, waitedMillis: true, tookMillis: true });

interface Counted {
  reconciles: number;
  errors: number;
  readonly waited: Window;
  readonly took: Window;
  readonly total: Window;
}

/** Starts counting. */
export function startLive({ bus, cluster, functions, onError }: LiveOptions): Live {
  const { nc } = bus;
  let events: Record<string, number> = {};
  const byFunction = new Map<string, Counted>();
  const samples: LiveSample[] = [];
  let ticked = Promise.withResolvers<void>();
  const kinds = new Map(functions.flatMap(kindsOf).map((kind) => [kindText(kind), kind]));

  // One subscription per kind, so that messages need no parsing.
  const subscriptions = [...kinds].map(([name, kind]) =>
    nc.subscribe(kindSubjects(cluster, kind), {
      callback(error) {
        if (error !== null) return onError(error);
        events[name] = (events[name] ?? 0) + 1;
      },
    }),
  );
  subscriptions.push(
    nc.subscribe(activity.every(cluster), {
      callback(error, message) {
        if (error !== null) return onError(error);
        try {
          const { fn } = parseKeySubject(message.subject);
          count(fn, countedSchema.parse(message.json()));
        } catch {
          // Not an activity record. An error thrown here would stop all subscriptions of the connection.
        }
      },
    }),
  );

  function count(
    fn: string,
    { outcome, waitedMillis, tookMillis }: ReturnType<typeof countedSchema.parse>,
  ): void {
    if (outcome === "slowed_down") return;
    let counted = byFunction.get(fn);
    if (counted === undefined) {
      const [waited, took, total] = [0, 1, 2].map(() => openWindow(windowSeconds)) as [
        Window,
        Window,
        Window,
      ];
      counted = { reconciles: 0, errors: 0, waited, took, total };
      byFunction.set(fn, counted);
    }
    counted.reconciles++;
    if (outcome === "retry" || outcome === "dead_lettered") counted.errors++;
    counted.waited.add(waitedMillis);
    counted.took.add(tookMillis);
    counted.total.add(waitedMillis + tookMillis);
  }

  function sampleOf({ reconciles, errors, waited, took, total }: Counted): FunctionSample | undefined {
    const spreads = { waited: waited.spread(), took: took.spread(), total: total.spread() };
    if (!spreads.waited || !spreads.took || !spreads.total) return undefined;
    return { reconciles, errors, waited: spreads.waited, took: spreads.took, total: spreads.total };
  }

  const timer = setInterval(() => {
    const found = [...byFunction].flatMap(([fn, counted]): [string, FunctionSample][] => {
      const sample = sampleOf(counted);
      counted.reconciles = 0;
      counted.errors = 0;
      for (const window of [counted.waited, counted.took, counted.total]) window.tick();
      if (sample === undefined) byFunction.delete(fn);
      return sample === undefined ? [] : [[fn, sample]];
    });
    // A timer may fire early, but two samples must not have the same second.
    const at = Math.max(Math.floor(Date.now() / 1000), (samples.at(-1)?.at ?? 0) + 1);
    samples.push({ at, events, functions: Object.fromEntries(found) });
    events = {};
    if (samples.length > keptSeconds) samples.shift();
    ticked.resolve();
    ticked = Promise.withResolvers();
  }, 1000);

  return {
    past: () => samples,
    async tick(signal) {
      const aborted = Promise.withResolvers<void>();
      const abort = (): void => aborted.resolve();
      signal.addEventListener("abort", abort, { once: true });
      await Promise.race([ticked.promise, aborted.promise]);
      signal.removeEventListener("abort", abort);
    },
    stop() {
      clearInterval(timer);
      for (const subscription of subscriptions) if (!subscription.isClosed()) subscription.unsubscribe();
    },
  };
}
