/** What was told of each second, as lines of charts. */
import type { FunctionSample, LiveSample } from "../../../../api/bus.ts";

/** What charts show: 15 minutes. */
export const spanSeconds = 900;

/** Numbers over time, as a chart draws them. */
export interface Series {
  /** Seconds since the epoch: when each step began, at even distances. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
}

/** A line. */
export interface Line {
  readonly name: string;
  /** One per time; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

/** Adds a second, and takes away those that are too long ago. */
export function withSample(samples: readonly LiveSample[], sample: LiveSample): readonly LiveSample[] {
  const kept = samples.filter(({ at }) => at > sample.at - spanSeconds && at < sample.at);
  return [...kept, sample];
}

interface Step {
  readonly time: number;
  readonly samples: readonly LiveSample[];
}

/** Steps of so many seconds. They begin at multiples of that, so that what was drawn does not change but moves. */
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

/** The mean; null of nothing. */
const mean = (numbers: readonly number[]): number | null =>
  numbers.length === 0 ? null : sum(numbers) / numbers.length;

/** What kinds beyond those that a chart has lines for are called. */
export const others = "all others";

/** The names of all kinds of which there were events: those with the most first. */
function kindsOf(samples: readonly LiveSample[]): readonly string[] {
  const totals = new Map<string, number>();
  for (const { events } of samples)
    for (const [kind, count] of Object.entries(events)) totals.set(kind, (totals.get(kind) ?? 0) + count);
  return [...totals].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([kind]) => kind);
}

/** Events per second, by kind: so many lines at most. The last of them is of all other kinds where there are more. */
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

/** Figures of a function, each by a name. */
export type Pick = Readonly<Record<string, (sample: FunctionSample) => number>>;

/** Means of a function's figures. What counts is 0 in a second in which the function did nothing; what measures is not known. */
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

/** What one second more or less does not change: the mean of the last ones. */
export function recent(
  samples: readonly LiveSample[],
  seconds: number,
  figureOf: (sample: LiveSample) => number,
): number {
  const newest = samples.at(-1);
  if (newest === undefined) return 0;
  return mean(samples.filter(({ at }) => at > newest.at - seconds).map(figureOf)) ?? 0;
}

/** How many there were in all of it. */
export const total = (samples: readonly LiveSample[], figureOf: (sample: LiveSample) => number): number =>
  sum(samples.map(figureOf));

/** The least and the most of all lines; undefined where nothing is known. */
export function extent({ lines }: Series): readonly [least: number, most: number] | undefined {
  const known = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  return known.length === 0 ? undefined : [Math.min(...known), Math.max(...known)];
}
