/**
 * The figures of each function over the last day: counted from the activity on the bus, and queue lengths that are read
 * periodically. Kept in memory, so a process knows nothing from before its start.
 */
import type { QueueLengths } from "denrei/bus";
import type { FunctionColumns, FunctionSeries } from "../../api/functionseries.ts";
import type { CountedActivity } from "./live.ts";
import { Histogram } from "./percentiles.ts";
import { type SampleRing, sampleRing } from "./samplering.ts";

type Column = keyof FunctionColumns;

const columns: readonly Column[] = [
  ...(["reconciles", "retries"] as const),
  ...(["waitedP50", "waitedP95", "waitedP99"] as const),
  ...(["tookP50", "tookP95", "tookP99"] as const),
  ...(["events", "pending", "inFlight", "deadLetters"] as const),
];

/** An hour in detail, and a day. From the finest. */
const resolutions = [
  { stepSeconds: 10, steps: 360 },
  { stepSeconds: 120, steps: 720 },
] as const;

/** How often queue lengths are read: once in each of the shortest steps. */
export const readSeconds = resolutions[0].stepSeconds;
/** The length of the longest series. */
export const keptSeconds = 24 * 60 * 60;

/** A period, in seconds since the epoch. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** The figures of one function. Times are in seconds since the epoch. */
export class FunctionCounter {
  private readonly bySteps: readonly StepCounter[];
  private readonly start: number;

  constructor(start: number) {
    this.start = start;
    this.bySteps = resolutions.map(({ stepSeconds, steps }) => new StepCounter(start, stepSeconds, steps));
  }

  /** The memory of the stored steps. */
  get bytes(): number {
    return this.bySteps.reduce((sum, { ring }) => sum + ring.bytes, 0);
  }

  /** Counts a finished reconcile. */
  reconciled(now: number, activity: CountedActivity): void {
    for (const steps of this.bySteps) steps.reconciled(now, activity);
  }

  /** Stores how long the queue is. */
  queueRead(now: number, lengths: QueueLengths): void {
    for (const steps of this.bySteps) steps.queueRead(now, lengths);
  }

  /** Ends the steps that are over. Must be called at least once in each step, or the step counts as unknown. */
  advance(now: number): void {
    for (const steps of this.bySteps) steps.advance(now);
  }

  /** The finished steps of a period, in the shortest steps that cover it. */
  read(now: number, { from, to }: Period): Omit<FunctionSeries, "function" | "for"> {
    this.advance(now);
    const known = Math.max(from, this.start);
    const steps = this.bySteps.find((one) => one.covers(known, now)) ?? (this.bySteps.at(-1) as StepCounter);
    const since = Math.max(this.start, now - keptSeconds);
    return { now, since, from, to, ...steps.read(Math.max(from, since), Math.min(to, now)) };
  }
}

/** Steps of one length. */
class StepCounter {
  readonly ring: SampleRing<Column>;
  private readonly stepSeconds: number;
  private readonly steps: number;
  private step: number;
  /** The process has not seen the start of its first step. */
  private isPartial = true;
  private reconciles = 0;
  private retries = 0;
  private readonly waited = new Histogram();
  private readonly took = new Histogram();
  private lengths: QueueLengths | undefined;

  constructor(start: number, stepSeconds: number, steps: number) {
    this.stepSeconds = stepSeconds;
    this.steps = steps;
    this.step = this.stepAt(start);
    this.ring = sampleRing(columns, steps);
  }

  reconciled(now: number, { outcome, waitedMillis, tookMillis }: CountedActivity): void {
    this.advance(now);
    this.reconciles++;
    if (outcome === "retry") this.retries++;
    this.waited.add(waitedMillis);
    this.took.add(tookMillis);
  }

  /** Keeps the highest of the step, so that a peak is not lost in a longer step. */
  queueRead(now: number, lengths: QueueLengths): void {
    this.advance(now);
    const highest = (field: keyof QueueLengths) => {
      const values = [this.lengths?.[field], lengths[field]].filter((value) => value !== undefined);
      return values.length === 0 ? undefined : Math.max(...values);
    };
    this.lengths = {
      events: highest("events"),
      pending: highest("pending"),
      inFlight: highest("inFlight"),
      deadLetters: highest("deadLetters"),
    };
  }

  advance(now: number): void {
    const step = this.stepAt(now);
    if (step === this.step) return;
    if (!this.isPartial) this.ring.put(this.step, this.values());
    this.isPartial = false;
    this.step = step;
    this.reconciles = 0;
    this.retries = 0;
    this.waited.clear();
    this.took.clear();
    this.lengths = undefined;
  }

  covers(from: number, now: number): boolean {
    return this.stepAt(from) >= this.stepAt(now) - this.steps;
  }

  read(from: number, to: number): Pick<FunctionSeries, "stepSeconds" | "times" | "columns"> {
    const { stepSeconds } = this;
    const first = Math.ceil(from / stepSeconds);
    const last = Math.min(this.stepAt(to), this.step) - 1;
    return {
      stepSeconds,
      times: Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * stepSeconds),
      columns: Object.fromEntries(
        columns.map((column) => [column, this.ring.read(column, first, last)]),
      ) as unknown as FunctionColumns,
    };
  }

  private stepAt(seconds: number): number {
    return Math.floor(seconds / this.stepSeconds);
  }

  private values(): Record<Column, number | undefined> {
    const { reconciles, retries, waited, took, lengths } = this;
    return {
      ...{ reconciles, retries },
      ...{ waitedP50: waited.percentile(0.5), waitedP95: waited.percentile(0.95) },
      ...{ waitedP99: waited.percentile(0.99), tookP50: took.percentile(0.5) },
      ...{ tookP95: took.percentile(0.95), tookP99: took.percentile(0.99) },
      ...{ events: lengths?.events, pending: lengths?.pending },
      ...{ inFlight: lengths?.inFlight, deadLetters: lengths?.deadLetters },
    };
  }
}
