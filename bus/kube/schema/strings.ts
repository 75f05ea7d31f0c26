/** Strings: their checks as patterns and lengths. */
import { z } from "zod";
import { type Check, checksOf } from "./checks.ts";
import type { Json, Place } from "./place.ts";
import { type Re2Patterns, re2Of, UntranslatableRegexError } from "./regex.ts";

/** Formats whose check is a pattern, and nothing but that. */
const patternFormats = new Set(
  (
    "regex lowercase uppercase guid uuid email nanoid cuid cuid2 ulid xid ksuid datetime date time ipv4 mac cidrv4 e164 " +
    "starts_with ends_with includes"
  ).split(" "),
);

const calendar = "(?:\\d+Y(?:\\d+M)?(?:\\d+D)?|\\d+M(?:\\d+D)?|\\d+D)";
const seconds = "\\d+(?:[.,]\\d+)?S";
const clock = `T(?:\\d+H(?:\\d+M)?(?:${seconds})?|\\d+M(?:${seconds})?|${seconds})`;
/** Formats that zod checks otherwise than with their pattern, or with one that RE2 does not have. */
const otherPatterns: Readonly<Record<string, RegExp>> = {
  base64: z.regexes.base64,
  base64url: z.regexes.base64url,
  duration: new RegExp(`^P(?:\\d+W|${calendar}(?:${clock})?|${clock})$`),
  hostname: new RegExp(z.regexes.hostname.source.replace("(?=.", "(?=[!-~]")),
};

const advice: Readonly<Record<string, string>> = {
  url: 'z.url() also trims, and what it accepts is no pattern: use z.string().regex(/^https:\\/\\/[^\\s]+$/, "expected a URL")',
  ipv6: "z.ipv6() checks more than a pattern can: use z.string().regex(z.regexes.ipv6)",
  cidrv6: "z.cidrv6() checks more than a pattern can: use z.string().regex(z.regexes.cidrv6)",
};

/** The schema of a string. */
export function stringSchema(def: z.core.$ZodStringDef, place: Place): Json {
  const json: Record<string, unknown> = { type: "string" };
  const patterns: Re2Patterns[] = [];
  for (const check of checksOf(def)) {
    if (check.check === "min_length") json.minLength = Math.max(check.minimum, Number(json.minLength ?? 0));
    else if (check.check === "max_length")
      json.maxLength = Math.min(check.maximum, Number(json.maxLength ?? Number.POSITIVE_INFINITY));
    else if (check.check === "length_equals") json.minLength = json.maxLength = check.length;
    else if (check.check === "string_format") {
      const regex = regexOf(check, place);
      const translated = regex && translatedAt(regex, place);
      if (translated) patterns.push(translated);
    } else if (check.check !== "custom") place.refuse(otherCheck(check.check));
  }
  return { ...json, ...patternsOf(patterns) };
}

const otherCheck = (name: string): string =>
  name === "overwrite"
    ? "it changes the text (trim, toLowerCase, and so on), but functions get what is stored: use a regex that refuses what would be changed"
    : `the check ${name} has no equivalent: use a regex`;

/** A pattern as keywords of a schema: the first in `pattern`, others beside it. */
export function patternsOf(patterns: readonly Re2Patterns[]): Json {
  const [pattern, ...others] = [...new Set(patterns.flatMap(({ matches }) => matches))];
  const mismatches = patterns.flatMap((one) => one.mismatches);
  const allOf = [
    ...others.map((other) => ({ pattern: other })),
    ...mismatches.map((other) => ({ not: { pattern: other } })),
  ];
  return { ...(pattern !== undefined && { pattern }), ...(allOf.length > 0 && { allOf }) };
}

/** Translates an expression, or refuses the field. */
export function translatedAt(regex: RegExp, place: Place): Re2Patterns | undefined {
  try {
    return re2Of(regex);
  } catch (error) {
    if (!(error instanceof UntranslatableRegexError)) throw error;
    place.refuse(`${regex}: ${error.message}`);
    return undefined;
  }
}

function regexOf(def: Check & { check: "string_format" }, place: Place): RegExp | undefined {
  const { format, pattern } = def as z.core.$ZodCheckStringFormatDef;
  if (format === "includes" && (def as z.core.$ZodCheckIncludesDef).position !== undefined)
    place.refuse("includes with a position has no equivalent: use a regex");
  const other = otherPatterns[format];
  if (other) return other;
  // A format of the author's own, made of a regex.
  const isOwn = "fn" in def && !(format in advice);
  if (pattern !== undefined && (patternFormats.has(format) || isOwn)) return pattern;
  place.refuse(
    advice[format] ?? `the format ${format} is checked by code, not by a pattern: use z.string().regex(…)`,
  );
  return undefined;
}
