/** Strings, with their checks as patterns and lengths. */
import { z } from "zod";
import { type Check, checksOf } from "./checks.ts";
import type { Json, Place } from "./place.ts";
import { type Re2Patterns, re2Of, UntranslatableRegexError } from "./regex.ts";

/** Zod's formats that check only a pattern, which the author may have replaced. */
const patternFormats = new Set(
  "regex lowercase uppercase guid uuid email nanoid cuid cuid2 ulid xid ksuid datetime date time duration ipv4 mac cidrv4 e164".split(
    " ",
  ),
);

const calendar = "(?:\\d+Y(?:\\d+M)?(?:\\d+D)?|\\d+M(?:\\d+D)?|\\d+D)";
const seconds = "\\d+(?:[.,]\\d+)?S";
const clock = `T(?:\\d+H(?:\\d+M)?(?:${seconds})?|\\d+M(?:${seconds})?|${seconds})`;
/** Zod's regexes that RE2 does not support, and equivalents. */
const equivalents: ReadonlyMap<RegExp, RegExp> = new Map([
  [z.regexes.duration, new RegExp(`^P(?:\\d+W|${calendar}(?:${clock})?|${clock})$`)],
  [z.regexes.hostname, new RegExp(z.regexes.hostname.source.replace("(?=.", "(?=[!-~]"))],
]);

const { escapeRegex } = z.core.util;

/** Formats that zod checks with code regardless of their pattern, and equivalent regexes. */
const codeFormats: Readonly<Record<string, (def: never, place: Place) => RegExp>> = {
  base64: () => z.regexes.base64,
  base64url: () => z.regexes.base64url,
  starts_with: ({ prefix }: z.core.$ZodCheckStartsWithDef) => new RegExp(`^${escapeRegex(prefix)}.*`),
  ends_with: ({ suffix }: z.core.$ZodCheckEndsWithDef) => new RegExp(`.*${escapeRegex(suffix)}$`),
  includes({ includes, position }: z.core.$ZodCheckIncludesDef, place) {
    if (position !== undefined) place.refuse("includes with a position has no equivalent: use a regex");
    return new RegExp(escapeRegex(includes));
  },
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
    ? "functions get the stored value, so schemas cannot change the text (trim, toLowerCase, and so on): use a regex that rejects such text"
    : `the check ${name} has no equivalent: use a regex`;

/** Keywords for several patterns: `pattern` for the first one, `allOf` for the rest. */
export function patternsOf(patterns: readonly Re2Patterns[]): Json {
  const [pattern, ...others] = [...new Set(patterns.flatMap(({ matches }) => matches))];
  const mismatches = patterns.flatMap((one) => one.mismatches);
  const allOf = [
    ...others.map((other) => ({ pattern: other })),
    ...mismatches.map((other) => ({ not: { pattern: other } })),
  ];
  return { ...(pattern !== undefined && { pattern }), ...(allOf.length > 0 && { allOf }) };
}

/** Translates an expression, or rejects the field. */
export function translatedAt(regex: RegExp, place: Place): Re2Patterns | undefined {
  try {
    return re2Of(regex);
  } catch (error) {
    if (!(error instanceof UntranslatableRegexError)) throw error;
    place.refuse(`${regex}: ${error.message}`);
    return undefined;
  }
}

/** An equivalent of the check. Returns undefined and rejects the field if code decides. */
function regexOf(def: Check & { check: "string_format" }, place: Place): RegExp | undefined {
  const { format, pattern } = def as z.core.$ZodCheckStringFormatDef;
  // A custom format may have the same name as one of zod's.
  if ("fn" in def) {
    if (pattern?.global)
      place.refuse(`${pattern}: with the flag g, every other value of the format fails: leave the flag out`);
    if (pattern !== undefined) return equivalents.get(pattern) ?? pattern;
  } else if (patternFormats.has(format)) return pattern && (equivalents.get(pattern) ?? pattern);
  else if (format in codeFormats) return codeFormats[format]?.(def as never, place);
  const instead = "fn" in def ? undefined : advice[format];
  place.refuse(
    instead ?? `the format ${format} is checked by code, not by a pattern: use z.string().regex(…)`,
  );
  return undefined;
}
