/** Values of the most recent steps of time, in a fixed amount of memory. Pure. */

/** Steps are numbered by their time: step `n` begins `n` times the length of a step after the epoch. */
export interface SampleRing<Column extends string> {
  /** Stores a step, and forgets the one that is a whole ring older. Missing values are unknown. */
  put(step: number, values: Partial<Record<Column, number | undefined>>): void;
  /** A column from one step to another, both included; null for what is unknown or forgotten. */
  read(column: Column, first: number, last: number): (number | null)[];
  /** The memory of the ring. */
  readonly bytes: number;
}

/** Creates an empty ring of `length` steps. */
export function sampleRing<Column extends string>(
  columns: readonly Column[],
  length: number,
): SampleRing<Column> {
  /** The step that each slot holds. */
  const steps = new Float64Array(length).fill(-1);
  const values = new Map(columns.map((column) => [column, new Float32Array(length)]));
  return {
    bytes: length * (8 + 4 * columns.length),
    put(step, sample) {
      const slot = step % length;
      steps[slot] = step;
      for (const [column, stored] of values) stored[slot] = sample[column] ?? Number.NaN;
    },
    read(column, first, last) {
      const stored = values.get(column);
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => {
        const slot = (first + at) % length;
        const value = steps[slot] === first + at ? stored?.[slot] : undefined;
        return value === undefined || Number.isNaN(value) ? null : value;
      });
    },
  };
}
