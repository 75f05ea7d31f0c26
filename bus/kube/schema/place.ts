/** The position of a conversion in a kind's schema. */
import type { z } from "zod";

/** A part of a structural schema. */
export interface Json {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly items?: Json;
  readonly [key: string]: unknown;
}

/** A field and its context. */
export interface Place {
  readonly path: string;
  /** Schemas that contain this field, outermost first. */
  readonly inside: readonly z.core.$ZodType[];
  /** True inside items of arrays and values of records, where a rule runs many times. */
  readonly isRepeated: boolean;
  /** Characters in the patterns of all rules for keys so far. */
  readonly spent: { keyPatterns: number };
  /** Whether the field has CEL rules, or is a list map. */
  readonly hasRules: boolean;
  /** Fields that only other variants of the union may have. */
  readonly absent: ReadonlySet<string>;
  /** Records why this field cannot be converted, and what to write instead. */
  refuse(problem: string): void;
}

/** The place of a schema's root. Adds problems with their paths to the list. */
export function rootPlace(path: string, problems: string[]): Place {
  return {
    path,
    inside: [],
    isRepeated: false,
    spent: { keyPatterns: 0 },
    hasRules: false,
    absent: new Set(),
    refuse(problem) {
      problems.push(`${this.path}: ${problem}`);
    },
  };
}

/** The place of a field, an item, or a value of `outer`. */
export const within = (
  place: Place,
  step: string,
  outer: z.core.$ZodType,
  count: "one" | "many" = "one",
): Place => ({
  ...place,
  path: `${place.path}${step}`,
  inside: [...place.inside, outer],
  isRepeated: place.isRepeated || count === "many",
  hasRules: false,
  absent: new Set(),
});
