/** How long changes waited for a reconcile: the delay that users see from a fault. */
import { quantile } from "../bench/statistics.ts";
import type { TrialEnvironment } from "./environment.ts";
import type { Effect } from "./journal.ts";
import { figure } from "./scenario.ts";

/** A change, from when it was passed to the publisher until a reconcile saw it or a later version of its key. */
export interface Wait {
  readonly key: string;
  /** Milliseconds of the machine's clock. */
  readonly at: number;
  /** Infinite if no reconcile saw it. */
  readonly millis: number;
}

/** The wait of each change, in no order between the keys. Only reconciles with an effect count. */
export function waitsOf(changes: TrialEnvironment["changes"], effects: readonly Effect[]): Wait[] {
  const byKey = Map.groupBy(effects, ({ key }) => key);
  return [...changes].flatMap(([key, list]) => {
    const seen = (byKey.get(key) ?? []).toSorted((a, b) => a.from - b.from);
    let next = 0;
    return list.map(({ version, at }): Wait => {
      while (next < seen.length && (seen[next]?.version ?? 0) < version) next++;
      return { key, at, millis: (seen[next]?.from ?? Number.POSITIVE_INFINITY) - at };
    });
  });
}

/** The longest of some times, 0 for none. */
export const longest = (millis: readonly number[]): number => millis.reduce((a, b) => Math.max(a, b), 0);

/** `1.5 · 7.0 · 25 ms`: p50, p99, and the maximum. */
export const spreadText = (millis: readonly number[]): string =>
  millis.length === 0
    ? "–"
    : `${[quantile(millis, 0.5), quantile(millis, 0.99), longest(millis)].map(figure).join(" · ")} ms`;
