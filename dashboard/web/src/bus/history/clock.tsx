/** Times of the day, to the millisecond: what happened in a trace is a matter of these. */
const clock: Intl.DateTimeFormatOptions = {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
};

/** A time (RFC 3339) without its day, which is on its title. */
export function Clock({ of: time }: { of: string }) {
  const date = new Date(time);
  return (
    <time class="clock" dateTime={time} title={date.toLocaleString()}>
      {date.toLocaleTimeString([], clock)}
    </time>
  );
}
