/** Order statistics of a few measurements. */

/** The median of several runs, and their range. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The value below which the given share (0 to 1) of the samples lies, interpolated. NaN without samples. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** Median, minimum, and maximum. */
export const spreadOf = (samples: readonly number[]): Spread => ({
  median: quantile(samples, 0.5),
  min: Math.min(...samples),
  max: Math.max(...samples),
});

/**
 * The ratio of two series measured alternately: one ratio per round, because a slowdown of the machine affects both sides of a
 * round.
 */
export const ratioOf = (ours: readonly number[], theirs: readonly number[]): Spread =>
  spreadOf(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)));

/** The sum of numbers. */
export const sumOf = (values: Iterable<number>): number => {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
};
