/** Validates times like PipeCD's programs: Go durations and cron schedules. */

const units = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 } as const;

/** Go's error for a duration; undefined for a valid or missing one. */
export function durationProblem(value: unknown): string | undefined {
  if (value === undefined || typeof value === "number") return undefined;
  const found = [...String(value).matchAll(/([0-9]*\.?[0-9]*)(ns|us|µs|ms|s|m|h)/g)];
  const whole = found.map(([part]) => part).join("");
  const isRead =
    found.length > 0 && whole === value && found.every(([, number]) => /[0-9]/.test(number ?? ""));
  if (!isRead && value !== "0") return `time: invalid duration "${value}"`;
  const nanos = found.map(([, number = "", unit]) => {
    const [seconds = "", fraction = ""] = number.split(".");
    const scale = units[unit as keyof typeof units];
    return BigInt(seconds) * BigInt(scale) + BigInt(Math.trunc(Number(`0.${fraction}`) * scale));
  });
  const sum = nanos.reduce((all, one) => all + one, 0n);
  return sum >= 2n ** 63n ? `time: invalid duration "${value}"` : undefined;
}

const ranges = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const;
const names = [
  [],
  [],
  [],
  "jan feb mar apr may jun jul aug sep oct nov dec".split(" "),
  "sun mon tue wed thu fri sat".split(" "),
] as const;
const descriptor = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/;

/** The error for a cron schedule; undefined for a valid one. */
export function cronProblem(schedule: string): string | undefined {
  const [, zone, rest = ""] = /^(?:CRON_)?TZ=([^ ]*)(.*)$/s.exec(schedule) ?? [undefined, "UTC", schedule];
  if (zone !== "UTC" && (rest === "" || !zones.has(zone ?? ""))) return `provided bad location ${zone}`;
  const spec = zone === "UTC" && rest === schedule ? rest : rest.trim();
  if (spec.startsWith("@every ")) return durationProblem(spec.slice(7));
  if (spec.startsWith("@")) return descriptor.test(spec) ? undefined : `unrecognized descriptor: ${spec}`;
  const fields = spec.split(/\s+/).filter(Boolean);
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}`;
  const wrong = fields.find((field, index) => field.split(",").some((part) => part && !isRange(part, index)));
  return wrong && `failed to parse ${wrong}`;
}

/** PipeCD's images contain no time zone database. */
const zones = new Set(["", "UTC", "Local"]);

function isRange(part: string, index: number): boolean {
  const [least, most] = ranges[index] ?? [0, 0];
  const number = (name: string) => {
    const at = (names[index] as readonly string[]).indexOf(name.toLowerCase());
    if (at >= 0) return at + least;
    return /^\+?\d+$/.test(name) ? Number(name) : Number.NaN;
  };
  const [, star, low = "", high, step] =
    /^(?:([*?])(?:-[^/]*)?|([^-/*?]+)(?:-([^-/]+))?)(?:\/(\+?[0-9]+))?$/.exec(part) ?? [];
  if (step !== undefined && Number(step) === 0) return false;
  if (star) return true;
  const [from, to] = [number(low), high === undefined ? number(step ? String(most) : low) : number(high)];
  return from >= least && to <= most && from <= to;
}
