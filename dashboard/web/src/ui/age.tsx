/** Relative times, updated once a second while the page is visible. */
import { signal } from "@preact/signals";

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

/** A time (RFC 3339) relative to now: `5 min ago`, `in 2 h`. */
export function Age({ of: time }: { of: string | undefined }) {
  if (time === undefined) return null;
  const seconds = Math.round((now.value - Date.parse(time)) / 1000);
  const text = seconds >= 0 ? `${span(Math.max(0, seconds))} ago` : `in ${span(-seconds)}`;
  return (
    <time dateTime={time} title={new Date(time).toLocaleString()}>
      {text}
    </time>
  );
}

/** How long ago a time (RFC 3339) was, without a preposition: `5 min`. */
export function Elapsed({ since: time }: { since: string | undefined }) {
  if (time === undefined) return null;
  return (
    <time dateTime={time} title={new Date(time).toLocaleString()}>
      {span(Math.max(0, Math.round((now.value - Date.parse(time)) / 1000)))}
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
