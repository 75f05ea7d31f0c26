/** Figures of a causal history. Pure. */
import type { CausalHistory, CausalThread, ReconcileRun } from "../../../../api/causality.ts";

/** Number of reconciles in these threads, those of timers without changes included. */
export const stepsIn = (threads: readonly CausalThread[]): number =>
  threads
    .flatMap(({ runs }) => runs)
    .reduce((sum, run) => sum + (run.type === "quiet" ? run.ids.length : 1 + stepsIn(run.threads)), 0);

/** The reconciles in these threads, without those of timers without changes. */
const reconcilesIn = (threads: readonly CausalThread[]): readonly ReconcileRun[] =>
  threads
    .flatMap(({ runs }) => runs)
    .flatMap((run) => (run.type === "quiet" ? [] : [run, ...reconcilesIn(run.threads)]));

/** Number of failed reconciles in these threads. */
export const failuresIn = (threads: readonly CausalThread[]): number =>
  reconcilesIn(threads).filter(({ entry: { outcome } }) => ["retry", "dead_lettered"].includes(outcome))
    .length;

/** Whether these threads have the entry with this id. */
export const hasEntry = (threads: readonly CausalThread[], id: string): boolean =>
  threads
    .flatMap(({ runs }) => runs)
    .some((run) =>
      run.type === "quiet" ? run.ids.includes(id) : run.entry.id === id || hasEntry(run.threads, id),
    );

/** The first reconcile below the origin. */
const firstOf = ({ threads }: CausalHistory): ReconcileRun | undefined =>
  threads.flatMap(({ runs }) => runs).find((run) => run.type === "reconcile");

/** When the origin happened: milliseconds since 1970. Undefined if nothing followed from an origin without a time. */
export function beganAt(history: CausalHistory): number | undefined {
  if (history.origin.type === "webhook") return Date.parse(history.origin.at);
  const first = firstOf(history);
  return first && Date.parse(first.entry.at) - first.entry.waitedMillis;
}

/** The threads that follow from a write, or those that follow from none of the listed writes if it is undefined. */
export const threadsOf = (
  { entry, threads }: ReconcileRun,
  write: number | undefined,
): readonly CausalThread[] =>
  threads.filter(({ link }) => {
    const at = link?.write ?? -1;
    return write === undefined ? entry.writes[at] === undefined : at === write;
  });
