/** Percentiles of recent values, accurate to 5 %: values are counted in exponentially growing buckets. */
import type { Spread } from "../../api/bus.ts";

/** The values of the last few ticks. */
export interface Window {
  /** Milliseconds. */
  add(value: number): void;
  /** Advances the window by one tick, and drops the values that leave it. */
  tick(): void;
  /** Undefined if the window is empty. */
  spread(): Spread | undefined;
}

const growth = 1.05;
/** Enough for more than a day. */
const classes = 380;
const classOf = (millis: number): number =>
  Math.min(classes - 1, Math.round(Math.log(Math.max(0, millis) + 1) / Math.log(growth)));
const millisOf = (at: number): number => Math.round(growth ** at - 1);

/** Creates an empty window that is `ticks` long. */
export function percentileWindow(ticks: number): Window {
  const counts = new Uint32Array(classes);
  const added: number[][] = [[]];
  let total = 0;

  function percentile(share: number): number {
    let left = Math.ceil(total * share);
    for (let at = 0; at < classes; at++) {
      left -= counts[at] ?? 0;
      if (left <= 0) return millisOf(at);
    }
    return millisOf(classes - 1);
  }

  return {
    add(value) {
      const at = classOf(value);
      counts[at] = (counts[at] ?? 0) + 1;
      total++;
      added.at(-1)?.push(at);
    },
    tick() {
      added.push([]);
      if (added.length <= ticks) return;
      for (const at of added.shift() ?? []) {
        counts[at] = (counts[at] ?? 1) - 1;
        total--;
      }
    },
    spread: () => (total === 0 ? undefined : { p50: percentile(0.5), p99: percentile(0.99) }),
  };
}
