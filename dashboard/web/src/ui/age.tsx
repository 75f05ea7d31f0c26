/** Relative times, updated once a second while the page is visible. */
import { signal, useComputed } from "@preact/signals";
import { ageText } from "./text.ts";

/** The current time in milliseconds since 1970. */
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);

const units = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
] as const;

/** Seconds in their largest unit: `90` is `1 min`. */
export function span(seconds: number): string {
  const [size, unit] = units.find(([size]) => seconds >= size) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** Created once: that takes longer than to format many times. */
const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

/** A time (RFC 3339) as a date, a time of day, and a time zone. An invalid time stays unchanged. */
export function dateTime(time: string): string {
  const millis = Date.parse(time);
  return Number.isNaN(millis) ? time : format.format(millis);
}

/** The clock only triggers the update. It may lag behind, and then a time that has just passed would be in the future. */
function secondsSince(time: string): number {
  const millis = Math.max(now.value, Date.now());
  return Math.round((millis - Date.parse(time)) / 1000);
}

/** A time (RFC 3339) relative to now: `5 min ago`, `in 2 h`. */
export function Age({ of: time }: { of: string | undefined }) {
  return time === undefined ? null : <Relative key={time} time={time} textOf={ageOf} />;
}

const ageOf = (seconds: number): string =>
  seconds >= 0 ? ageText.ago(span(seconds)) : ageText.ahead(span(-seconds));

/** How long ago a time (RFC 3339) was, without a preposition: `5 min`. */
export function Elapsed({ since: time }: { since: string | undefined }) {
  return time === undefined ? null : <Relative key={time} time={time} textOf={elapsedOf} />;
}

const elapsedOf = (seconds: number): string => span(Math.max(0, seconds));

/** Only the text follows the clock, so that a long list renders nothing while its texts stay the same. */
function Relative({ time, textOf }: { time: string; textOf: (seconds: number) => string }) {
  const text = useComputed(() => textOf(secondsSince(time)));
  return (
    <time dateTime={time} title={dateTime(time)}>
      {text}
    </time>
  );
}

/** Seconds in their two largest units: `75` is `1 min 15 s`. */
export function duration(seconds: number): string {
  const [size, unit] = units.find(([size]) => seconds >= size) ?? [1, "s"];
  const rest = seconds % size;
  const first = `${Math.floor(seconds / size)} ${unit}`;
  return size === 1 || rest < 1 ? first : `${first} ${span(rest)}`;
}

/** The duration between two times (RFC 3339); without `to`, the duration until now. */
export function Duration({ from, to }: { from: string | undefined; to: string | undefined }) {
  if (from === undefined) return null;
  const end = to === undefined ? now.value : Date.parse(to);
  return <>{duration(Math.max(0, Math.round((end - Date.parse(from)) / 1000)))}</>;
}
