/** Literals, enums, null, and type checks for subschemas that cannot have a `type`. */
import type { z } from "zod";
import type { Json, Place } from "./place.ts";
import { neverPattern } from "./regex.ts";

type Value = z.util.Literal;

/** The schema of a list of values. */
export function valuesSchema(values: readonly Value[], place: Place): Json {
  const unique = [...new Set(values)];
  const others = unique.filter((value) => value !== null);
  const types = new Set(others.map(typeOf));
  const isNullable = others.length < unique.length;
  const found = schemaOf(others, types);
  if (found === undefined) {
    place.refuse(
      `${unique.map(String).join(" | ") || "no value"} has no type of the API: use only strings, only integers, only numbers, or only booleans`,
    );
    return {};
  }
  return isNullable ? nullable(found) : found;
}

/**
 * Before the API server compares a value with an enum, it converts the value to the enum's type: 1.5 becomes 1, and 97 becomes "a". So
 * each enum has values of one type, and an integer among fractions becomes a range.
 */
function schemaOf(values: readonly Value[], types: ReadonlySet<string | undefined>): Json | undefined {
  const ofType = (type: string) => values.filter((value) => typeOf(value) === type);
  const [type] = types;
  if (types.has(undefined) || types.size === 0) return undefined;
  if (types.size === 1) return { type, enum: values };
  if (types.size > 2) return undefined;
  if (types.has("number") && types.has("integer"))
    return {
      type: "number",
      anyOf: [...ofType("integer").map((value) => onlyInteger(Number(value))), { enum: ofType("number") }],
    };
  if (types.has("string") && types.has("integer"))
    return {
      "x-kubernetes-int-or-string": true,
      anyOf: [
        { allOf: [isOnly.string, { enum: ofType("string") }] },
        { allOf: [isOnly.integer, { enum: ofType("integer") }] },
      ],
    };
  return undefined;
}

/** Matches one integer in a schema of numbers. */
export const onlyInteger = (value: number): Json => ({ minimum: value, maximum: value });

function typeOf(value: Value): string | undefined {
  if (typeof value === "string" || typeof value === "boolean") return typeof value;
  if (typeof value !== "number") return undefined;
  return Number.isSafeInteger(value) ? "integer" : "number";
}

/** Schemas that match one type without `type`, which only the outermost schema of a field may have. */
export const isOnly = {
  string: { not: { pattern: neverPattern } },
  integer: { not: { minimum: 1, maximum: 0 } },
} as const;

/** Matches null, and no other value of the type. */
const nullOnly: Readonly<Record<string, Json>> = {
  string: { pattern: neverPattern },
  integer: { minimum: 1, maximum: 0 },
  number: { minimum: 1, maximum: 0 },
  boolean: { not: { enum: [true, false] } },
  array: { minItems: 1, maxItems: 0 },
  object: { minProperties: 1, maxProperties: 0 },
};

const composite = ["enum", "not", "allOf", "anyOf", "oneOf"];

/** The schema, or null. The API server also checks null against enums and compositions. */
export function nullable(schema: Json): Json {
  const checked = composite.filter((key) => key in schema);
  if (schema.nullable === true || checked.length === 0) return { ...schema, nullable: true };
  const kept = Object.fromEntries(Object.entries(schema).filter(([key]) => !checked.includes(key)));
  const alternative = Object.fromEntries(checked.map((key) => [key, schema[key]]));
  const isNull =
    schema["x-kubernetes-int-or-string"] === true
      ? { ...nullOnly.string, ...nullOnly.integer }
      : nullOnly[String(schema.type)];
  return { ...kept, nullable: true, anyOf: [alternative, isNull] };
}
