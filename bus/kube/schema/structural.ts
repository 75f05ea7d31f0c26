/**
 * Converts zod schemas to structural schemas with which the API server accepts, prunes, and defaults exactly as zod does. Schemas
 * for which that is impossible are rejected.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 *
 * Two differences remain. The API server removes null from fields that are not nullable before it validates. And authors can make the
 * API server stricter with CEL rules and list types in metadata, if zod has no equivalent refinement.
 */

import { z } from "zod";
import { isSameJson } from "../../values/canonicaljson.ts";
import { checksOf } from "./checks.ts";
import { keyRules } from "./keys.ts";
import { checkList, isListMap, metadataOf, rulesKey } from "./metadata.ts";
import { numberSchema } from "./numbers.ts";
import { type Json, type Place, rootPlace, within } from "./place.ts";
import { patternsOf, stringSchema, translatedAt } from "./strings.ts";
import { unionSchema } from "./unions.ts";
import { nullable, valuesSchema } from "./values.ts";

/**
 * Converts the schema of a field, such as `spec`. Adds each field that cannot be converted to `problems`, with its path and an
 * alternative. The result is valid only if there are no problems.
 */
export const structuralSchema = (schema: z.core.$ZodType, path: string, problems: string[]): Json =>
  convert(schema, rootPlace(path, problems));

/** Alternatives for schemas without an equivalent in JSON or the API. */
const instead: Readonly<Record<string, string>> = {
  date: "JSON has no dates: use z.iso.datetime()",
  bigint: "JSON is read with doubles: use z.int(), or a string of digits for more than 53 bits",
  map: "JSON has no maps: use z.record(z.string(), …)",
  set: "JSON has no sets: use z.array(…)",
  undefined: "JSON has no undefined: use .optional()",
  void: "JSON has no undefined: leave the field out",
  never: "z.never() has an equivalent only in a variant of a union: leave the field out",
  nan: "JSON has no NaN",
  pipe: "functions get the stored value, so schemas cannot transform it: describe the stored value, and transform it in the function",
  transform: "functions get the stored value, so schemas cannot transform it: transform it in the function",
  catch:
    "functions get the stored value, so schemas cannot replace invalid ones: use .optional() or .default(…)",
  custom: "code does not define a type: use a schema of the type, with .refine(…) and .meta(cel(…))",
  intersection: "an intersection has no equivalent: use z.object({ ...A.shape, ...B.shape })",
};

/** Types whose converters also convert the checks. */
const haveChecks: readonly string[] = ["string", "number", "array"];

/** Whether CEL rules know the type of the schema's values. */
function hasRuleType(schema: Json): boolean {
  const inner = schema.items ?? schema.additionalProperties;
  if (inner !== undefined) return hasRuleType(inner as Json);
  return "type" in schema || schema["x-kubernetes-int-or-string"] === true;
}

/** Converts a schema and its metadata. */
export function convert(schema: z.core.$ZodType, outer: Place): Json {
  const { def } = schema._zod as z.core.$ZodTypes["_zod"];
  const metadata = metadataOf(schema, outer);
  const place = { ...outer, hasRules: outer.hasRules || rulesKey in metadata || isListMap(metadata) };
  if (place.inside.includes(schema)) {
    place.refuse(
      "the schema contains itself, which structural schemas cannot: use z.unknown() for the inner occurrence",
    );
    return {};
  }
  const checks = checksOf(def).map(({ check }) => check);
  const other = haveChecks.includes(def.type) ? undefined : checks.find((check) => check !== "custom");
  if (other !== undefined) place.refuse(`the check ${other} has no equivalent`);
  if (checks.includes("custom") && !place.hasRules)
    place.refuse(
      'a refinement is code, which the API server does not run: repeat it in CEL, as in .refine(…).meta(cel({ rule: "self.min <= self.max", message: "…" })), or check it in the function',
    );
  const json = converted(schema, def, place);
  const rules = [json, metadata].flatMap((one) => (one[rulesKey] ?? []) as readonly unknown[]);
  checkList({ ...json, ...metadata }, place);
  if (rules.length > 0 && !hasRuleType(json))
    place.refuse(
      "rules cannot see items or values of z.unknown(): give them a type, such as z.looseObject({})",
    );
  return { ...json, ...metadata, ...(rules.length > 0 && { [rulesKey]: rules }) };
}

function converted(schema: z.core.$ZodType, def: z.core.$ZodTypes["_zod"]["def"], place: Place): Json {
  switch (def.type) {
    case "string":
      if (def.coerce) place.refuse(coercion);
      return stringSchema(def, place);
    case "number":
      if (def.coerce) place.refuse(coercion);
      return numberSchema(def, place);
    case "boolean":
      if (def.coerce) place.refuse(coercion);
      return { type: "boolean" };
    case "template_literal": {
      const pattern = translatedAt((schema as z.core.$ZodTemplateLiteral)._zod.pattern, place);
      return { type: "string", ...(pattern && patternsOf([pattern])) };
    }
    case "literal":
      return valuesSchema(def.values, place);
    case "enum":
      return valuesSchema([...(schema as z.core.$ZodEnum)._zod.values] as z.util.Literal[], place);
    case "null":
      return valuesSchema([null], place);
    case "any":
    case "unknown":
      return { "x-kubernetes-preserve-unknown-fields": true, nullable: true };
    case "object":
      return objectSchema(schema, def, place);
    case "record":
      return recordSchema(schema, def, place);
    case "array":
      return arraySchema(schema, def, place);
    case "tuple":
      return tupleSchema(schema, def, place);
    case "union":
      return unionSchema(schema, def, place, convert);
    case "optional":
    case "nonoptional":
    case "readonly":
      return convert(def.innerType, place);
    case "lazy":
      return convert((schema as z.core.$ZodLazy)._zod.innerType, {
        ...place,
        inside: [...place.inside, schema],
      });
    case "nullable":
      return nullable(convert(def.innerType, place));
    case "default":
    case "prefault":
      return defaulted(def, place);
    default:
      place.refuse(instead[def.type] ?? `z.${def.type}() has no equivalent in JSON`);
      return {};
  }
}

const coercion = "functions get the stored value, so schemas cannot coerce it: use the schema without coerce";

function defaulted(def: z.core.$ZodDefaultDef | z.core.$ZodPrefaultDef, place: Place): Json {
  const value = def.defaultValue;
  const parsed = z.safeParse(def.innerType, value);
  if (value === null)
    place.refuse(
      "the API server ignores a default of null: use .nullish(), and treat undefined and null alike in the function",
    );
  else if (!parsed.success)
    place.refuse(
      `the default ${JSON.stringify(value)} does not match its schema: ${z.prettifyError(parsed.error)}`,
    );
  else if (def.type === "default" && !isSameJson(parsed.data, value))
    place.refuse(
      `the API server completes the default ${JSON.stringify(value)} to ${JSON.stringify(parsed.data)}, and zod does not: use .prefault(…), or write the default in full`,
    );
  // The parsed value, because the API server rejects a default with fields that it would drop.
  return { ...convert(def.innerType, place), default: parsed.success ? parsed.data : value };
}

function objectSchema(schema: z.core.$ZodType, def: z.core.$ZodObjectDef, place: Place): Json {
  const catchall = def.catchall?._zod.def.type;
  const isLoose = catchall === "unknown" || catchall === "any";
  if (catchall === "never")
    place.refuse(
      "the API server drops unknown fields instead of rejecting them: use z.object() instead of z.strictObject()",
    );
  else if (catchall !== undefined && !isLoose)
    place.refuse("a catchall schema has no equivalent: put the other fields into a z.record()");
  const fields = Object.entries(def.shape).filter(([name]) => !place.absent.has(name));
  const required = fields.filter(([, field]) => field._zod.optin === undefined).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(
      fields.map(([name, field]) => [name, convert(field, within(place, `.${name}`, schema))]),
    ),
    ...(required.length > 0 && { required }),
    ...(isLoose && { "x-kubernetes-preserve-unknown-fields": true }),
    ...(place.absent.size > 0 && { not: { anyOf: [...place.absent].map((name) => ({ required: [name] })) } }),
  };
}

/** Items and values of maps are never absent, so a default would only replace null, which zod rejects. */
const withoutDefault = ({ default: _, ...schema }: Json): Json => schema;

function recordSchema(schema: z.core.$ZodType, def: z.core.$ZodRecordDef, place: Place): Json {
  if (def.mode === "loose")
    place.refuse(
      "other keys of a loose record have values of any type: use z.record(), or z.looseObject({})",
    );
  const keys = convert(def.keyType, { ...within(place, "{key}", schema), hasRules: place.hasRules });
  const values = withoutDefault(convert(def.valueType, within(place, "{}", schema, "many")));
  return { type: "object", additionalProperties: values, ...keyRules(keys, place) };
}

function arraySchema(schema: z.core.$ZodType, def: z.core.$ZodArrayDef, place: Place): Json {
  let least: number | undefined;
  let most: number | undefined;
  for (const check of checksOf(def)) {
    if (check.check === "min_length") least = Math.max(check.minimum, least ?? 0);
    else if (check.check === "max_length") most = Math.min(check.maximum, most ?? Number.POSITIVE_INFINITY);
    else if (check.check === "length_equals") least = most = check.length;
    else if (check.check !== "custom") place.refuse(`the check ${check.check} has no equivalent`);
  }
  return {
    type: "array",
    items: withoutDefault(convert(def.element, within(place, "[]", schema, "many"))),
    ...(least !== undefined && { minItems: least }),
    ...(most !== undefined && { maxItems: most }),
  };
}

function tupleSchema(schema: z.core.$ZodType, def: z.core.$ZodTupleDef, place: Place): Json {
  const items = def.items.map((item, at) =>
    withoutDefault(convert(item, within(place, `[${at}]`, schema, "many"))),
  );
  const [first] = items;
  const isSame = items.every((item) => isSameJson(item, first));
  if (
    first === undefined ||
    !isSame ||
    def.rest !== null ||
    def.items.some((item) => item._zod.optin !== undefined)
  ) {
    place.refuse("items of a tuple cannot have different schemas: use z.object() with a name for each");
    return {};
  }
  return { type: "array", items: first, minItems: items.length, maxItems: items.length };
}
