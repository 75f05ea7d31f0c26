/** Formats numbers. Pure. */

/** Stands for an unknown number. */
export const unknown = "–";

/** A count, or {@link unknown} for null. */
export const count = (things: number | null): string =>
  things === null ? unknown : things.toLocaleString("en-US");

/** A rate per second, with one decimal place below 10. */
export function rate(perSecond: number): string {
  if (perSecond > 0 && perSecond < 0.05) return "< 0.1";
  if (perSecond < 9.95) return String(Number(perSecond.toFixed(1)));
  return count(Math.round(perSecond));
}

const units = [
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
] as const;

/** Milliseconds in a suitable unit, with two or three digits. */
export function duration(millis: number): string {
  if (millis < 1) return "< 1 ms";
  if (millis < 999.5) return `${Math.round(millis)} ms`;
  const [size, unit] = units.find(([size]) => millis >= size) ?? [1000, "s"];
  const value = millis / size;
  return `${value < 9.95 ? Number(value.toFixed(1)) : Math.round(value)} ${unit}`;
}

/** `1st`, `2nd`, and so on. */
export function ordinal(position: number): string {
  const rule = new Intl.PluralRules("en-US", { type: "ordinal" }).select(position);
  const endings: Readonly<Record<string, string>> = { one: "st", two: "nd", few: "rd" };
  return `${position}${endings[rule] ?? "th"}`;
}

/** `1 object`, `2 objects`. */
export const plural = (things: number, word: string): string =>
  `${count(things)} ${word}${things === 1 ? "" : "s"}`;
