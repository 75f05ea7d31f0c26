/** Where in a kind's schema the conversion is. */
import type { z } from "zod";

/** A piece of a structural schema. */
export interface Json {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly items?: Json;
  readonly [key: string]: unknown;
}

/** A field, and what is known about it. */
export interface Place {
  readonly path: string;
  /** Schemas that this field is inside of. */
  readonly inside: readonly z.core.$ZodType[];
  /** Whether it is an item of an array or a value of a record: then a rule is run many times. */
  readonly isRepeated: boolean;
  /** How many characters the patterns of rules for keys have so far. */
  readonly spent: { keyPatterns: number };
  /** Whether the field has rules of CEL. */
  readonly hasRules: boolean;
  /** Fields of an object that other variants of its union have, and this one must not have. */
  readonly absent: ReadonlySet<string>;
  /** Notes what cannot be converted: what is wrong with this field, and what to write instead. */
  refuse(problem: string): void;
}

/** The place of a schema's root; problems are collected with their paths. */
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

/** The place of a field, an item or a value of `outer`. */
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
