/** The order of a table's rows. Pure. */
import { severityOf, type Tone } from "./health.ts";

/** A value that rows are compared by. Rows without a value are last in both directions. */
export type SortValue = string | number | undefined;

/** A column and a direction. */
export interface Sort {
  readonly key: string;
  readonly direction: "ascending" | "descending";
}

/** The key of a column in the address: `Token expires` is `token-expires`. */
export const sortKeyOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

/** Reads an order from the address: `created` or `-created`. */
export function parseSort(text: string): Sort | undefined {
  if (text === "") return undefined;
  return text.startsWith("-")
    ? { key: text.slice(1), direction: "descending" }
    : { key: text, direction: "ascending" };
}

/** The next order when the header of a column is pressed, as in the address: ascending, descending, none. */
export function nextSort(current: Sort | undefined, key: string): string | undefined {
  if (current?.key !== key) return key;
  return current.direction === "ascending" ? `-${key}` : undefined;
}

/** Compares names as people count: `a2` is before `a10`. */
const { compare: compareTexts } = new Intl.Collator("en", { numeric: true });

/** Sorts rows. Rows with equal values keep their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  sortBy: (row: Row) => SortValue,
  direction: Sort["direction"],
): readonly Row[] {
  const sign = direction === "ascending" ? 1 : -1;
  return rows
    .map((row) => ({ row, value: sortBy(row) }))
    .sort(({ value: a }, { value: b }) => {
      if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
      return sign * compare(a, b);
    })
    .map(({ row }) => row);
}

const compare = (a: string | number, b: string | number): number =>
  typeof a === "number" && typeof b === "number" ? a - b : compareTexts(String(a), String(b));

/** The sort value of a time (RFC 3339). */
export const timeValue = (time: string | undefined): SortValue =>
  time === undefined ? undefined : Date.parse(time);

/** The sort value of a status: first by severity, then by word. */
export const statusValue = ([tone, word]: readonly [Tone, string]): SortValue =>
  `${severityOf(tone)} ${word}`;
