/** What happens on the bus, counted by the second for as long as the server runs, so that a chart has a past when it is opened. */
import { activitySchema } from "../../../bus/activity/record.ts";
import type { Bus } from "../../../bus/connect.ts";
import { kindText } from "../../../bus/kube/kind.ts";
import { activity, kindSubjects, parseKeySubject } from "../../../bus/subjects.ts";
import { kindsOf, type ReconcileFunction } from "../../../bus/worker/function.ts";
import type { FunctionSample, LiveSample } from "../../api/bus.ts";
import { openWindow, type Window } from "./window.ts";

/** What is counted. */
export interface LiveOptions {
  readonly bus: Pick<Bus, "nc">;
  readonly cluster: string;
  readonly functions: readonly ReconcileFunction[];
  readonly onError: (error: unknown) => void;
}

/** What was counted. */
export interface Live {
  /** The oldest first. */
  past(): readonly LiveSample[];
  /** Calls back each second, until the result is called. */
  follow(each: (sample: LiveSample) => void): () => void;
  stop(): void;
}

/** Percentiles are of so many seconds. */
export const windowSeconds = 30;
const keptSeconds = 15 * 60;

/** Of a record no more is read than this. */
const countedSchema = activitySchema.pick({ outcome: true, waitedMillis: true, tookMillis: true });

interface Counted {
  reconciles: number;
  errors: number;
  readonly waited: Window;
  readonly took: Window;
  readonly total: Window;
}

/** Begins to count. */
export function startLive({ bus, cluster, functions, onError }: LiveOptions): Live {
  const { nc } = bus;
  let events: Record<string, number> = {};
  const byFunction = new Map<string, Counted>();
  const samples: LiveSample[] = [];
  const followers = new Set<(sample: LiveSample) => void>();
  const kinds = new Map(functions.flatMap(kindsOf).map((kind) => [kindText(kind), kind]));

  // A subscription for each kind: so nothing of a message has to be read.
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
          // What somebody else has put there. What throws in here would end the reading of the whole connection.
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
    const sample = { at: Math.floor(Date.now() / 1000), events, functions: Object.fromEntries(found) };
    events = {};
    samples.push(sample);
    if (samples.length > keptSeconds) samples.shift();
    for (const follower of followers) follower(sample);
  }, 1000);

  return {
    past: () => samples,
    follow(each) {
      followers.add(each);
      return () => followers.delete(each);
    },
    stop() {
      clearInterval(timer);
      for (const subscription of subscriptions) if (!subscription.isClosed()) subscription.unsubscribe();
    },
  };
}
