/** Metadata that `.meta()` and `.describe()` add to a schema. */
import { z } from "zod";
import type { Json, Place } from "./place.ts";

/** CEL rules of a schema. */
export const rulesKey = "x-kubernetes-validations";
const listType = "x-kubernetes-list-type";
const listKeys = "x-kubernetes-list-map-keys";

const known = new Set(["description", "title", rulesKey, listType, listKeys, "x-kubernetes-map-type"]);

/** Keywords that change which values are valid, and their equivalents in zod. */
const withZod: Readonly<Record<string, string>> = {
  format: "z.int32(), z.iso.datetime() and so on",
  "x-kubernetes-int-or-string": "z.union([z.int(), z.string()])",
  "x-kubernetes-preserve-unknown-fields": "z.looseObject(…) or z.unknown()",
  nullable: ".nullable()",
  default: ".default(…)",
  pattern: ".regex(…)",
  enum: "z.enum(…)",
};
const otherKeywords = new Set(
  (
    "$ref type const minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf items prefixItems minItems " +
    "maxItems uniqueItems contains properties patternProperties propertyNames required additionalProperties minProperties " +
    "maxProperties allOf anyOf oneOf not if then else"
  ).split(" "),
);

/** The metadata for the API server. Rejects keywords that zod does not check. */
export function metadataOf(schema: z.core.$ZodType, place: Place): Json {
  const metadata = Object.entries(z.globalRegistry.get(schema) ?? {});
  for (const [key] of metadata) {
    const isUnknown =
      key in withZod || otherKeywords.has(key) || (key.startsWith("x-kubernetes-") && !known.has(key));
    if (isUnknown)
      place.refuse(
        `${key} in .meta() would apply in the API server but not in zod: use ${withZod[key] ?? "the equivalent zod schema"}`,
      );
  }
  return Object.fromEntries(metadata.filter(([key]) => known.has(key)));
}

const scalars: readonly unknown[] = ["string", "integer", "number", "boolean"];

/** Whether the API server itself rejects items with equal keys, which a refinement may repeat. */
export const isListMap = (metadata: Json): boolean => metadata[listType] === "map";

/** Rejects lists whose items the API server could not distinguish. */
export function checkList(schema: Json, place: Place): void {
  const items = (schema.items ?? {}) as Json;
  if (schema[listType] === "set" && !scalars.includes(items.type))
    place.refuse("items of a set must be strings, numbers, or booleans");
  if (schema[listType] !== "map") return;
  const properties = (items.properties ?? {}) as Readonly<Record<string, Json>>;
  for (const key of (schema[listKeys] ?? []) as readonly string[]) {
    const field = properties[key];
    const isThere =
      ((items.required ?? []) as readonly string[]).includes(key) || field?.default !== undefined;
    if (!field || !isThere || !scalars.includes(field.type) || field.nullable === true)
      place.refuse(
        `listMap(${JSON.stringify(key)}): each item needs a string, number, or boolean in the field ${key}, required or with a default`,
      );
  }
}
