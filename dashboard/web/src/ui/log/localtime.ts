/** Times in the time zone of the user. */

const pad = (number: number, digits = 2): string => String(number).padStart(digits, "0");

/** `2026-01-02` */
export const localDate = (time: Date): string =>
  `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`;

/** `03:04:05.678` */
export const localClock = (time: Date): string =>
  `${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}.${pad(time.getMilliseconds(), 3)}`;

const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "full" });

/** Date, time, and zone in words. */
export const fullTime = (time: Date): string => full.format(time);
