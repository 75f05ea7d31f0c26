/** The periods that charts show, and zooming into them. Pure. */
import { text } from "../text.ts";

const words = text.period.ranges;

/** Seconds since the epoch. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** A time range that ends now. */
export interface Range {
  /** In the address. */
  readonly id: string;
  /** On its button. */
  readonly name: string;
  /** After "the last". */
  readonly phrase: string;
  readonly seconds: number;
}

/** The ranges to choose from. The server keeps a day. */
export const ranges: readonly Range[] = [
  { id: "5m", ...words["5m"], seconds: 300 },
  { id: "15m", ...words["15m"], seconds: 900 },
  { id: "1h", ...words["1h"], seconds: 3600 },
  { id: "6h", ...words["6h"], seconds: 6 * 3600 },
  { id: "24h", ...words["24h"], seconds: 24 * 3600 },
];
const [, standard, , , day] = ranges as [Range, Range, Range, Range, Range];

/** The range with this id, or the default one. */
export const rangeOf = (id: string | undefined): Range => ranges.find((range) => range.id === id) ?? standard;

/** Shorter periods would have too few steps. */
const shortest = 60;

/** The period in the query of an address; undefined if it has none or an invalid one. */
export function periodIn({ from, to }: Readonly<Record<string, string>>): Period | undefined {
  const isTime = (text: string | undefined) => /^\d{1,10}$/.test(text ?? "");
  if (!isTime(from) || !isTime(to) || Number(from) >= Number(to)) return undefined;
  return { from: Number(from), to: Number(to) };
}

/** A selected period in whole seconds, of at least the shortest length and within the last day. */
export function selected({ from, to }: Period, now: number): Period {
  const length = Math.min(day.seconds, Math.max(shortest, Math.round(to - from)));
  const middle = (from + to) / 2;
  const latest = Math.min(now, Math.round(middle + length / 2));
  const start = Math.max(now - day.seconds, latest - length);
  return { from: start, to: start + length };
}

/** The middle half. */
export function zoomIn({ from, to }: Period, now: number): Period {
  const quarter = (to - from) / 4;
  return selected({ from: from + quarter, to: to - quarter }, now);
}

/** Twice as long. */
export function zoomOut({ from, to }: Period, now: number): Period {
  const half = (to - from) / 2;
  return selected({ from: from - half, to: to + half }, now);
}

/** Half of its length earlier (-1) or later (1). */
export function moved({ from, to }: Period, direction: -1 | 1, now: number): Period {
  const shift = (direction * (to - from)) / 2;
  return selected({ from: from + shift, to: to + shift }, now);
}
