/** The growth rate of noisy measurements. */
import { quantile } from "../../bench/statistics.ts";

/** A measurement. */
export interface Sample {
  readonly seconds: number;
  readonly value: number;
}

/** Growth per hour, and its 99 % confidence interval. */
export interface Slope {
  readonly perHour: number;
  readonly low: number;
  readonly high: number;
}

/** Quantile of the normal distribution for a two-sided 99 %. */
const confidence = 2.576;

/**
 * The median of the slopes between all pairs of samples (Theil 1950), with Sen's interval (1968), which assumes only that the noise
 * does not change over time. Up to 29 % of the samples may be outliers. Samples have to be far enough apart to be independent.
 */
export function slopeOf(samples: readonly Sample[]): Slope {
  const slopes = samples
    .flatMap((a, at) => samples.slice(at + 1).map((b) => (b.value - a.value) / (b.seconds - a.seconds)))
    .map((perSecond) => perSecond * 3600)
    .sort((a, b) => a - b);
  const count = samples.length;
  const spread = confidence * Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  const share = (pairs: number): number => Math.min(1, Math.max(0, pairs / slopes.length));
  return {
    perHour: quantile(slopes, 0.5),
    low: quantile(slopes, share((slopes.length - spread) / 2)),
    high: quantile(slopes, share((slopes.length + spread) / 2)),
  };
}
