/** Countdowns to a token's expiry. */
import { dateTime, now, span } from "../ui/age.tsx";
import { Status } from "../ui/status.tsx";
import { installationText as text } from "./text.ts";
import "./countdown.css";

/** Counts down to a time (RFC 3339) by the second. After it, shows how long ago it was. */
export function Countdown({ to: time }: { to: string | undefined }) {
  if (time === undefined) return null;
  const seconds = Math.floor((Date.parse(time) - now.value) / 1000);
  return (
    <time dateTime={time} title={dateTime(time)} class="ticking">
      {seconds > 0 ? clock(seconds) : <Status tone="bad">{text.expired(span(-seconds))}</Status>}
    </time>
  );
}

/** `59:07`, and `1:00:00` from an hour on. */
function clock(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (number: number) => String(number).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
