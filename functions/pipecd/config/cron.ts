/** Validates schedules in PipeCD's format: https://pkg.go.dev/github.com/robfig/cron/v3#ParseStandard */
import { nanosIn } from "../kinds/goduration.ts";

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly names: readonly string[];
}
const fields: readonly Field[] = [
  { name: "minute", least: 0, most: 59, names: [] },
  { name: "hour", least: 0, most: 23, names: [] },
  { name: "day of the month", least: 1, most: 31, names: [] },
  { name: "month", least: 1, most: 12, names: months },
  { name: "day of the week", least: 0, most: 6, names: days },
];

const descriptors = ["yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly"];
const expected = `expected five fields such as "0 * * * *", or one of ${descriptors.map((name) => `@${name}`).join(", ")}, and "@every 1h"`;
const zonePrefix = /^(?:CRON_)?TZ=/;
/** White space according to Go. */
const space = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

/** Why a schedule is invalid; undefined if it is valid. */
export function scheduleProblem(text: string): string | undefined {
  if (zonePrefix.test(text)) return zonedProblem(text);
  if (text.startsWith("@")) return descriptorProblem(text);
  const found = text.split(space).filter((field) => field !== "");
  if (found.length !== fields.length) return `${expected}, found ${found.length} fields`;
  for (const [index, field] of fields.entries()) {
    const problem = fieldProblem(found[index] ?? "", field);
    if (problem) return problem;
  }
  return undefined;
}

/** Checks a schedule with a time zone. */
function zonedProblem(text: string): string | undefined {
  const [prefix = "", ...rest] = text.split(" ");
  const zone = prefix.replace(zonePrefix, "");
  if (rest.length === 0) return `${expected} after ${prefix}`;
  if (!isZone(zone)) return `expected the time zone UTC, the only one in PipeCD's images, found "${zone}"`;
  const schedule = rest.join(" ").trim();
  return zonePrefix.test(schedule) ? expected : scheduleProblem(schedule);
}

/** PipeCD's images have no time zone database. */
const isZone = (zone: string): boolean => ["", "UTC", "Local"].includes(zone);

function descriptorProblem(text: string): string | undefined {
  const every = /^@every (.*)$/s.exec(text)?.[1];
  if (every === undefined)
    return descriptors.includes(text.slice(1)) ? undefined : `${expected}, found "${text}"`;
  return nanosIn(every) === undefined
    ? `expected a duration such as 90s, 5m, or 1h30m after @every, found "${every}"`
    : undefined;
}

function fieldProblem(text: string, field: Field): string | undefined {
  for (const range of text.split(",")) {
    const problem = range === "" ? undefined : rangeProblem(range, field);
    if (problem) return `${field.name}: ${problem}`;
  }
  return undefined;
}

function rangeProblem(text: string, field: Field): string | undefined {
  const { least, most } = field;
  const [range = "", step, ...moreSteps] = text.split("/");
  const [low = "", high, ...moreHighs] = range.split("-");
  const isAll = low === "*" || low === "?";
  const wrong = `expected *, a number from ${least} to ${most}, or a range of these, found "${text}"`;
  if (moreSteps.length > 0 || (!isAll && moreHighs.length > 0)) return wrong;
  const start = isAll ? least : numberOf(low, field);
  const single = step === undefined ? start : most;
  const end = isAll ? most : high === undefined ? single : numberOf(high, field);
  if (start === undefined || end === undefined) return wrong;
  if (start < least || end > most || start > end) return wrong;
  if (step !== undefined && !((naturalOf(step) ?? 0) > 0))
    return `expected a step of at least 1, found "${text}"`;
  return undefined;
}

function numberOf(text: string, { least, names }: Field): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  return named < 0 ? naturalOf(text) : named + least;
}

const naturalOf = (text: string): number | undefined => {
  const number = /^[-+]?[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  return number >= 0 && number < 2 ** 63 ? number : undefined;
};
