/** Numbers, with bounds that the API server compares as zod does. */
import type { z } from "zod";
import { checksOf } from "./checks.ts";
import type { Json, Place } from "./place.ts";
import { onlyInteger } from "./values.ts";

const largest = Number.MAX_SAFE_INTEGER;
/** Bounds of zod's formats, and their names in the API. JSON parsers would round larger integers. */
const formats: Readonly<Record<string, { least: number; most: number; format: string }>> = {
  safeint: { least: -largest, most: largest, format: "int64" },
  int32: { least: -(2 ** 31), most: 2 ** 31 - 1, format: "int32" },
  uint32: { least: 0, most: 2 ** 32 - 1, format: "int64" },
};

interface Bound {
  readonly value: number;
  readonly isExclusive: boolean;
}

/** The schema of a number. It is an integer if its format is one of integers. */
export function numberSchema(def: z.core.$ZodNumberDef, place: Place): Json {
  let least: Bound | undefined;
  let most: Bound | undefined;
  let format: string | undefined;
  const factors: number[] = [];
  for (const check of checksOf(def)) {
    if (check.check === "number_format") {
      const range = formats[check.format];
      if (range) {
        format = format === "int32" ? format : range.format;
        least = tighter(least, { value: range.least, isExclusive: false }, 1);
        most = tighter(most, { value: range.most, isExclusive: false }, -1);
      } else if (check.format !== "float64")
        place.refuse(`${check.format} has no equivalent: use z.number() or z.int()`);
    } else if (check.check === "greater_than")
      least = tighter(least, { value: Number(check.value), isExclusive: !check.inclusive }, 1);
    else if (check.check === "less_than")
      most = tighter(most, { value: Number(check.value), isExclusive: !check.inclusive }, -1);
    else if (check.check === "multiple_of") factors.push(Number(check.value));
    else if (check.check !== "custom") place.refuse(`the check ${check.check} has no equivalent`);
  }
  for (const bound of [least, most])
    if (bound && Math.abs(bound.value) > largest)
      place.refuse(
        `the bound ${bound.value} exceeds the largest that the API server compares (${largest}): leave it out, or use a smaller unit`,
      );
  if (factors.length > 0) checkFactors(factors, format === undefined ? undefined : { least, most }, place);
  return {
    ...(format === undefined
      ? { type: "number", ...fractional(least, most) }
      : { type: "integer", format, ...integral(least, most) }),
    ...(factors.length === 1 && { multipleOf: factors[0] }),
    ...(factors.length > 1 && { allOf: factors.map((multipleOf) => ({ multipleOf })) }),
  };
}

/** Beyond this, zod accepts numbers that are not multiples. */
const largestMultiple = 1e15;

function checkFactors(
  factors: readonly number[],
  integers: { readonly least: Bound | undefined; readonly most: Bound | undefined } | undefined,
  place: Place,
): void {
  if (integers === undefined || !factors.every((factor) => Number.isSafeInteger(factor) && factor > 0)) {
    place.refuse(
      "the API server calculates multiples of fractions with a tolerance: use z.int32() and a smaller unit",
    );
    return;
  }
  const { least, most } = integers;
  if (Math.max(Math.abs(least?.value ?? largest), Math.abs(most?.value ?? largest)) > largestMultiple)
    place.refuse(
      `zod calculates multiples beyond ${largestMultiple} with a tolerance: use z.int32(), or .min(…) and .max(…)`,
    );
}

/** The stricter bound; `sign` is 1 for lower bounds. */
function tighter(one: Bound | undefined, other: Bound, sign: 1 | -1): Bound {
  if (one === undefined) return other;
  if (one.value === other.value) return one.isExclusive ? one : other;
  return one.value * sign > other.value * sign ? one : other;
}

/** Bounds of integers, rounded, because the API server rejects every integer if a bound is a fraction. */
function integral(least: Bound | undefined, most: Bound | undefined): Json {
  const whole = (bound: Bound, sign: 1 | -1): number => {
    const nearest = sign === 1 ? Math.ceil(bound.value) : Math.floor(bound.value);
    return bound.isExclusive && nearest === bound.value ? nearest + sign : nearest;
  };
  return { ...(least && { minimum: whole(least, 1) }), ...(most && { maximum: whole(most, -1) }) };
}

/**
 * Bounds of numbers. For integer values, the API server truncates fractional bounds, so the schema excludes an integer that would
 * become valid.
 */
function fractional(least: Bound | undefined, most: Bound | undefined): Json {
  const excluded = [least, most].flatMap((bound): Json[] => {
    if (!bound || Number.isInteger(bound.value)) return [];
    const isCutOutwards = bound === least ? bound.value > 0 : bound.value < 0;
    return [
      // Turns -0 into 0.
      ...(isCutOutwards ? [onlyInteger(Math.trunc(bound.value) + 0)] : []),
      ...(bound.isExclusive ? [{ enum: [bound.value] }] : []),
    ];
  });
  const isExclusive = (bound: Bound | undefined) => bound?.isExclusive && Number.isInteger(bound.value);
  return {
    ...(least && { minimum: least.value }),
    ...(isExclusive(least) && { exclusiveMinimum: true }),
    ...(most && { maximum: most.value }),
    ...(isExclusive(most) && { exclusiveMaximum: true }),
    ...(excluded.length === 1 && { not: excluded[0] }),
    ...(excluded.length > 1 && { not: { anyOf: excluded } }),
  };
}
