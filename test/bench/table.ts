/** Tables in Markdown whose columns also line up on a terminal. */
import type { Spread } from "./statistics.ts";

/** A table: the first column is text, the others are figures. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, at) => (at === 0 ? (cells[at] ?? "").padEnd(width) : (cells[at] ?? "").padStart(width))).join(" | ")} |`;
  const rule = `| ${widths.map((width, at) => (at === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}

/** A number for readers: more digits the smaller it is. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** `17.5 (16.9–18.2)`: the median, and the extremes where there was more than one run. */
export const spreadText = ({ median, min, max }: Spread): string =>
  min === max ? figure(median) : `${figure(median)} (${figure(min)}–${figure(max)})`;

/** "1 round" or "3 rounds". */
export const roundsText = (count: number): string => (count === 1 ? "1 round" : `${count} rounds`);
