/** Samples as lines of charts. Pure. */
import type { FunctionSample, LiveSample } from "../../../../api/bus.ts";
import { eventsText } from "./text.ts";

/** Charts cover 15 minutes. */
export const spanSeconds = 900;

/** The data of a chart. */
export interface Series {
  /** Start of each step in seconds since the epoch, evenly spaced. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
}

/** A line of a chart. */
export interface Line {
  readonly name: string;
  /** One value per time; null if unknown. */
  readonly values: readonly (number | null)[];
}

/** Adds a sample and drops those that are too old. */
export function withSample(samples: readonly LiveSample[], sample: LiveSample): readonly LiveSample[] {
  const kept = samples.filter(({ at }) => at > sample.at - spanSeconds && at < sample.at);
  return [...kept, sample];
}

interface Step {
  readonly time: number;
  readonly samples: readonly LiveSample[];
}

/** Groups samples into steps. Steps start at multiples of `seconds`, so drawn values move but do not change. */
function steps(samples: readonly LiveSample[], seconds: number): readonly Step[] {
  const newest = samples.at(-1);
  if (newest === undefined) return [];
  const stepOf = ({ at }: LiveSample) => Math.floor(at / seconds);
  const byStep = Map.groupBy(samples, stepOf);
  const count = spanSeconds / seconds;
  const first = stepOf(newest) - count + 1;
  return Array.from({ length: count }, (_, at) => ({
    time: (first + at) * seconds,
    samples: byStep.get(first + at) ?? [],
  }));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const mean = (numbers: readonly number[]): number | null =>
  numbers.length === 0 ? null : sum(numbers) / numbers.length;

/** Name of the line that sums the kinds without their own line. */
export const others = eventsText.others;

/** All kinds with events, the most frequent first. */
function kindsOf(samples: readonly LiveSample[]): readonly string[] {
  const totals = new Map<string, number>();
  for (const { events } of samples)
    for (const [kind, count] of Object.entries(events)) totals.set(kind, (totals.get(kind) ?? 0) + count);
  return [...totals].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([kind]) => kind);
}

/** Events per second in at most `most` lines. If there are more kinds, the last line sums the rest. */
export function eventSeries(
  samples: readonly LiveSample[],
  { stepSeconds, most }: { readonly stepSeconds: number; readonly most: number },
): Series {
  const kinds = kindsOf(samples);
  const shown = kinds.length > most ? kinds.slice(0, most - 1) : kinds;
  const rest = kinds.slice(shown.length);
  const all = steps(samples, stepSeconds);
  const line = (name: string, of: readonly string[]): Line => ({
    name,
    values: all.map(({ samples: inStep }) =>
      mean(inStep.map(({ events }) => sum(of.map((kind) => events[kind] ?? 0)))),
    ),
  });
  return {
    times: all.map(({ time }) => time),
    lines: [
      ...[...shown].sort().map((kind) => line(kind, [kind])),
      ...(rest.length > 0 ? [line(others, rest)] : []),
    ],
  };
}

/** Numbers to take from a function's sample, by line name. */
export type Pick = Readonly<Record<string, (sample: FunctionSample) => number>>;

/** Means of a function's numbers. `absent` is the value of a second in which it did nothing: 0 for counts, null for latencies. */
export function functionSeries(
  samples: readonly LiveSample[],
  fn: string,
  {
    pick,
    stepSeconds,
    absent,
  }: { readonly pick: Pick; readonly stepSeconds: number; readonly absent: 0 | null },
): Series {
  const all = steps(samples, stepSeconds);
  const lines = Object.entries(pick).map(([name, figureOf]) => ({
    name,
    values: all.map(({ samples: inStep }) =>
      mean(
        inStep.flatMap(({ functions }) => {
          const value = functions[fn] ? figureOf(functions[fn]) : absent;
          return value === null ? [] : [value];
        }),
      ),
    ),
  }));
  return { times: all.map(({ time }) => time), lines };
}

/** The mean of the last seconds, which smooths single samples. */
export function recent(
  samples: readonly LiveSample[],
  seconds: number,
  figureOf: (sample: LiveSample) => number,
): number {
  const newest = samples.at(-1);
  if (newest === undefined) return 0;
  return mean(samples.filter(({ at }) => at > newest.at - seconds).map(figureOf)) ?? 0;
}

/** The sum over all samples. */
export const total = (samples: readonly LiveSample[], figureOf: (sample: LiveSample) => number): number =>
  sum(samples.map(figureOf));

/** The minimum and maximum of all lines; undefined without data. */
export function extent({ lines }: Series): readonly [least: number, most: number] | undefined {
  const known = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  return known.length === 0 ? undefined : [Math.min(...known), Math.max(...known)];
}
