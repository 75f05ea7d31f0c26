/** Milliseconds matter within a trace. */
const clock: Intl.DateTimeFormatOptions = {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
};

/** The time of day of a time (RFC 3339), with the date as its title. */
export function Clock({ of: time }: { of: string }) {
  const date = new Date(time);
  return (
    <time class="clock" dateTime={time} title={date.toLocaleString()}>
      {date.toLocaleTimeString([], clock)}
    </time>
  );
}
