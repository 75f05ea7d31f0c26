/** Dates and times in the user's time zone. */

const dated: Intl.DateTimeFormatOptions = { year: "numeric", month: "short", day: "numeric" };
const timed: Intl.DateTimeFormatOptions = {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
};

/** `Nov 30, 2026` */
export const dateOf = (time: Date): string => time.toLocaleDateString("en-US", dated);

/** `08:03:27`, or with milliseconds, which matter within a trace. */
export const timeOf = (time: Date, precision: "seconds" | "milliseconds" = "seconds"): string =>
  time.toLocaleTimeString("en-US", {
    ...timed,
    ...(precision === "milliseconds" && { fractionalSecondDigits: 3 }),
  });

/** `Nov 30, 2026, 08:03:27` */
export const dateTimeOf = (time: Date): string => `${dateOf(time)}, ${timeOf(time)}`;

/** The time zone at a time: `Asia/Tokyo (GMT+9)`. The offset changes with daylight saving time. */
export function zoneAt(time: Date): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const offset = new Intl.DateTimeFormat("en-US", { timeZoneName: "shortOffset" })
    .formatToParts(time)
    .find(({ type }) => type === "timeZoneName")?.value;
  return offset === undefined || /^GMT([+-]0)?$/.test(offset) ? timeZone : `${timeZone} (${offset})`;
}
