/** The figures of a function: their lines, units, and runbooks. Pure. */
import type { FunctionSeries, Values } from "../../../../api/functionseries.ts";
import type { Line, Series } from "../live/series.ts";
import { count, duration, rate } from "../numbers.ts";
import { text } from "../text.ts";

/** A chart of the function's page. */
export interface Figure {
  readonly title: string;
  readonly about: string;
  /** The heading of its columns in a table. */
  readonly column: string;
  readonly lines: (series: FunctionSeries) => readonly Line[];
  readonly format: (value: number) => string;
  /** Whether it counts, so that its axis has whole numbers only. */
  readonly isCount?: true;
  /** Anchors of the runbooks in docs/operations.md. */
  readonly runbooks: readonly string[];
}

const per = (seconds: number, values: Values, stepSeconds: number): Values =>
  values.map((value) => (value === null ? null : (value / stepSeconds) * seconds));

const percentiles = (p50: Values, p95: Values, p99: Values): readonly Line[] => [
  { name: "p50", values: p50 },
  { name: "p95", values: p95 },
  { name: "p99", values: p99 },
];

const { throughput, waited, took, queue, inFlight, retries, deadLetters } = text.figures;

/** In the order in which an operator asks. */
export const figures: readonly Figure[] = [
  {
    ...throughput,
    lines: ({ columns, stepSeconds }) => [
      { name: throughput.line, values: per(1, columns.reconciles, stepSeconds) },
    ],
    format: rate,
    runbooks: ["a-hot-loop", "bridge-lag"],
  },
  {
    ...queue,
    lines: ({ columns: { events, pending } }) => [
      { name: queue.unseen, values: events },
      { name: queue.pending, values: pending },
    ],
    format: count,
    isCount: true,
    runbooks: ["requests-wait"],
  },
  {
    ...waited,
    lines: ({ columns: { waitedP50, waitedP95, waitedP99 } }) => percentiles(waitedP50, waitedP95, waitedP99),
    format: duration,
    runbooks: ["requests-wait"],
  },
  {
    ...took,
    lines: ({ columns: { tookP50, tookP95, tookP99 } }) => percentiles(tookP50, tookP95, tookP99),
    format: duration,
    runbooks: ["stuck-keys", "the-api-server-is-away"],
  },
  {
    ...inFlight,
    lines: ({ columns }) => [{ name: inFlight.line, values: columns.inFlight }],
    format: count,
    isCount: true,
    runbooks: ["stuck-keys", "a-worker-dies"],
  },
  {
    ...retries,
    lines: ({ columns, stepSeconds }) => [
      { name: retries.line, values: per(60, columns.retries, stepSeconds) },
    ],
    format: rate,
    runbooks: ["reconciles-fail"],
  },
  {
    ...deadLetters,
    lines: ({ columns }) => [{ name: deadLetters.line, values: columns.deadLetters }],
    format: count,
    isCount: true,
    runbooks: ["dead-letters"],
  },
];

/** The data of a figure's chart. */
export const seriesOf = (figure: Figure, series: FunctionSeries): Series => ({
  times: series.times,
  lines: figure.lines(series),
});

/** The last known value of a line. */
export const lastOf = ({ values }: Line): number | null => values.findLast((value) => value !== null) ?? null;
