/** Percentiles, accurate to 5 %: values are counted in exponentially growing buckets. */
import type { Spread } from "../../api/bus.ts";

const growth = 1.05;
/** Enough for more than a day. */
const classes = 380;
const classOf = (millis: number): number =>
  Math.min(classes - 1, Math.round(Math.log(Math.max(0, millis) + 1) / Math.log(growth)));
const millisOf = (at: number): number => Math.round(growth ** at - 1);

/** Counted values, in 1.5 KB however many there are. */
export class Histogram {
  private readonly counts = new Uint32Array(classes);
  private total = 0;

  /** Milliseconds. */
  add(value: number): void {
    this.change(classOf(value), 1);
  }

  /** Changes the count of a class. */
  change(at: number, by: 1 | -1): void {
    this.counts[at] = (this.counts[at] ?? 0) + by;
    this.total += by;
  }

  clear(): void {
    this.counts.fill(0);
    this.total = 0;
  }

  /** The value below which this share of the values lies; undefined without values. */
  percentile(share: number): number | undefined {
    if (this.total === 0) return undefined;
    let left = Math.ceil(this.total * share);
    for (let at = 0; at < classes; at++) {
      left -= this.counts[at] ?? 0;
      if (left <= 0) return millisOf(at);
    }
    return millisOf(classes - 1);
  }
}

/** The values of the last few ticks. */
export interface Window {
  /** Milliseconds. */
  add(value: number): void;
  /** Advances the window by one tick, and drops the values that leave it. */
  tick(): void;
  /** Undefined if the window is empty. */
  spread(): Spread | undefined;
}

/** Creates an empty window that is `ticks` long. */
export function percentileWindow(ticks: number): Window {
  const histogram = new Histogram();
  const added: number[][] = [[]];
  return {
    add(value) {
      const at = classOf(value);
      histogram.change(at, 1);
      added.at(-1)?.push(at);
    },
    tick() {
      added.push([]);
      if (added.length <= ticks) return;
      for (const at of added.shift() ?? []) histogram.change(at, -1);
    },
    spread() {
      const [p50, p99] = [histogram.percentile(0.5), histogram.percentile(0.99)];
      return p50 === undefined || p99 === undefined ? undefined : { p50, p99 };
    },
  };
}
