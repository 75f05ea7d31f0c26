/** Percentiles of what was measured lately, to five percent: values go into classes that each grow by as much. */
import type { Spread } from "../../api/bus.ts";

/** Values of the last so many ticks. */
export interface Window {
  /** Milliseconds. */
  add(value: number): void;
  /** Time goes on by one: what is older than the window is forgotten. */
  tick(): void;
  /** Undefined when there is none. */
  spread(): Spread | undefined;
}

const growth = 1.05;
/** Up to more than a day. */
const classes = 380;
const classOf = (millis: number): number =>
  Math.min(classes - 1, Math.round(Math.log(Math.max(0, millis) + 1) / Math.log(growth)));
const millisOf = (at: number): number => Math.round(growth ** at - 1);

/** Opens an empty one. */
export function openWindow(ticks: number): Window {
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
