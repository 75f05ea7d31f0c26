/** What a measurement needs of its caller: the benchmark, or a reliability scenario. */
import type { Defer } from "../../harness/cleanup.ts";

/** The context of a measurement. */
export interface Measuring {
  /** Aborts when the user or a failure ends the run. */
  readonly signal: AbortSignal;
  /** Prints progress. */
  readonly say: (text: string) => void;
  /** Registers cleanup for the end of the measurement. */
  readonly defer: Defer;
}

/** The same in the benchmark, which ends when a process does. */
export interface BenchMeasuring extends Measuring {
  /** Ends the run because of an error outside any awaited call. */
  readonly fail: (error: Error) => void;
}
