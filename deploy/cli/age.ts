/** Ages in the notation of kubectl. */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** `13s`, `2m5s`, `3h12m`, `2d`: the one or two largest units. */
export function age(time: string, now = Date.now()): string {
  const millis = Math.max(0, now - Date.parse(time));
  const part = (unit: number, size: number, letter: string) => {
    const count = Math.floor((millis % size) / unit);
    return count === 0 ? "" : `${count}${letter}`;
  };
  if (millis < 2 * minute) return `${Math.floor(millis / second)}s`;
  if (millis < 10 * minute) return `${Math.floor(millis / minute)}m${part(second, minute, "s")}`;
  if (millis < 3 * hour) return `${Math.floor(millis / minute)}m`;
  if (millis < 8 * hour) return `${Math.floor(millis / hour)}h${part(minute, hour, "m")}`;
  if (millis < 2 * day) return `${Math.floor(millis / hour)}h`;
  return `${Math.floor(millis / day)}d`;
}
