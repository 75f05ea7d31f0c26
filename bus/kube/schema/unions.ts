/**
 * Unions. A structural schema has one type and one set of fields. The restrictions of each variant go into `anyOf`, which can only
 * restrict values.
 */

import { z } from "zod";
import { isSameJson } from "../../values/canonicaljson.ts";
import { type Json, type Place, within } from "./place.ts";
import { isOnly, nullable } from "./values.ts";

/** The schema of a union; `convert` converts its variants. */
export function unionSchema(
  schema: z.core.$ZodType,
  def: z.core.$ZodUnionDef,
  place: Place,
  convert: (variant: z.core.$ZodType, place: Place) => Json,
): Json {
  const isExclusive = def.inclusive === false && !("discriminator" in def);
  const options = isExclusive ? def.options : flat(def.options);
  const absent = absentFields(options);
  const all = options.map((option, at) => {
    const inner = {
      ...within(place, ` (variant ${at + 1})`, schema),
      path: place.path,
      absent: absent[at] ?? new Set<string>(),
    };
    return option._zod.def.type === "null" ? null : convert(option, inner);
  });
  const found = all.filter((option) => option !== null);
  if (
    found.some(
      (option) =>
        "default" in option || (option["x-kubernetes-preserve-unknown-fields"] === true && !option.type),
    )
  ) {
    place.refuse(
      "a variant with a default, or of z.unknown(), has no equivalent: put the default after the union, or use z.unknown() alone",
    );
    return {};
  }
  const isNullable = found.length < all.length || found.some((option) => option.nullable === true);
  if (isExclusive && isNullable)
    place.refuse("z.xor() with a nullable variant has no equivalent: use .nullable() after z.xor()");
  const variants = found.map(({ nullable: _, ...option }) => option as Json);
  const result = merged(variants, isExclusive ? "oneOf" : "anyOf", options, place);
  return isNullable ? nullable(result) : result;
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = schema._zod as z.core.$ZodTypes["_zod"];
  return def.type === "optional" || def.type === "readonly" ? unwrapped(def.innerType) : schema;
}

/** Flattens nested unions without checks. */
function flat(options: readonly z.core.$ZodType[]): z.core.$ZodType[] {
  return options.flatMap((option) => {
    const { def } = option._zod as z.core.$ZodTypes["_zod"];
    const isInclusive = def.type === "union" && (def.inclusive !== false || "discriminator" in def);
    const isPlain = !def.checks?.length && z.globalRegistry.get(option) === undefined;
    return isInclusive && isPlain ? flat(def.options) : [option];
  });
}

const shapeOf = (schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> =>
  (unwrapped(schema)._zod as z.core.$ZodObject["_zod"]).def.shape ?? {};

/** The fields that each variant excludes with `z.never().optional()`. */
const absentFields = (options: readonly z.core.$ZodType[]): ReadonlySet<string>[] =>
  options.map(
    (option) =>
      new Set(
        Object.entries(shapeOf(option)).flatMap(([name, field]) =>
          ["never", "undefined"].includes(unwrapped(field)._zod.def.type) && field._zod.optin !== undefined
            ? [name]
            : [],
        ),
      ),
  );

function merged(
  variants: readonly Json[],
  key: "anyOf" | "oneOf",
  options: readonly z.core.$ZodType[],
  place: Place,
): Json {
  const [first = {}] = variants;
  if (variants.length === 1) return first;
  const types = new Set(
    variants.map((variant) => (variant["x-kubernetes-int-or-string"] ? "int-or-string" : variant.type)),
  );
  if (
    key === "anyOf" &&
    [...types].every((type) => ["integer", "string", "int-or-string"].includes(String(type))) &&
    types.size > 1
  )
    return intOrString(variants, place);
  if (types.size > 1) {
    place.refuse(
      `a field has one type, found ${[...types].join(" and ")}: use one type, or an object with an optional field for each variant`,
    );
    return {};
  }
  if (first.type === "object" && !haveSameFields(options, place)) return {};
  const skeleton = commonSkeleton(variants, place);
  return { ...skeleton, [key]: variants.map(restrictions) };
}

/** Whether all variants list the same fields. The API server would keep fields of another variant, which zod drops. */
function haveSameFields(options: readonly z.core.$ZodType[], place: Place): boolean {
  const objects = options.map(unwrapped).filter((option) => option._zod.def.type !== "null");
  if (objects.some((option) => option._zod.def.type !== "object")) {
    place.refuse("variants of a union of objects must be z.object(): write each as z.object()");
    return false;
  }
  const shapes = objects.map(shapeOf);
  const names = new Set(shapes.flatMap((shape) => Object.keys(shape)));
  for (const [at, shape] of shapes.entries())
    for (const name of names)
      if (!(name in shape)) {
        place.refuse(
          `variant ${at + 1} of the union does not exclude the field ${name} of another variant: add ${name}: z.never().optional() to it`,
        );
        return false;
      }
  return true;
}

const isStructure = (key: string): boolean =>
  ["type", "format", "nullable", "default", "additionalProperties"].includes(key) || key.startsWith("x-");
const isDescribed = (key: string): boolean => isStructure(key) || ["description", "title"].includes(key);

type Fields = Readonly<Record<string, Json>>;

const mapped = (fields: Fields, map: (schema: Json) => Json): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, map(field)]));

/** The structure of a schema, without restrictions of values. */
const skeletonOf = (schema: Json, isKept = isStructure): Json => ({
  ...Object.fromEntries(Object.entries(schema).filter(([key]) => isKept(key))),
  ...(schema.properties && { properties: mapped(schema.properties, (field) => skeletonOf(field, isKept)) }),
  ...(schema.items && { items: skeletonOf(schema.items, isKept) }),
});

const isEmpty = (object: object): boolean => Object.keys(object).length === 0;

/** The restrictions of values in a schema, without its structure. */
function restrictions({ properties = {}, items = {}, ...schema }: Json): Json {
  const fields = Object.fromEntries(
    Object.entries(mapped(properties, restrictions)).filter(([, field]) => !isEmpty(field)),
  );
  const inner = isEmpty(items) ? {} : restrictions(items);
  return {
    ...Object.fromEntries(Object.entries(schema).filter(([key]) => !isDescribed(key))),
    ...(!isEmpty(fields) && { properties: fields }),
    ...(!isEmpty(inner) && { items: inner }),
  };
}

/** The structure that all variants share. Rejects the field if they differ. */
function commonSkeleton(variants: readonly Json[], place: Place): Json {
  const shapes = variants.map((variant) => variant.properties ?? {});
  const properties: Record<string, Json> = {};
  for (const [name, field] of shapes.flatMap((shape) => Object.entries(shape))) {
    const isEverywhere = shapes.every((shape) => name in shape);
    const isSame = isSameJson(skeletonOf(properties[name] ?? field), skeletonOf(field));
    if (!isSame || (!isEverywhere && "default" in field)) {
      place.refuse(
        `variants of the union have different types, defaults, or rules for ${name}: use the same ones, or a different name in each variant`,
      );
      return {};
    }
    properties[name] = { ...skeletonOf(field, isDescribed), ...properties[name] };
  }
  const [first = {}, ...others] = variants.map(({ properties: _, ...variant }) => skeletonOf(variant));
  if (!others.every((other) => isSameJson(other, first)))
    place.refuse(
      "variants of the union have different structures or rules: use one structure, and .meta(cel(…)) after the union",
    );
  return { ...first, ...(first.type === "object" && { properties }) };
}

/** Integers or strings. Restrictions cannot have a type, and some of them accept every value of another type. */
function intOrString(variants: readonly Json[], place: Place): Json {
  const marked = { "x-kubernetes-int-or-string": true };
  const plain = variants.map(({ type, format: _, description: _text, ...rest }) => ({ type, rest }));
  if (plain.some(({ rest }) => Object.keys(rest).some((key) => key.startsWith("x-")))) {
    place.refuse("rules of a variant have no equivalent: put .meta(cel(…)) after the union");
    return {};
  }
  const isFlat = plain.every(({ rest }) => !["enum", "not", "allOf", "anyOf"].some((key) => key in rest));
  if (plain.length === 2 && isFlat) return Object.assign({}, marked, ...plain.map(({ rest }) => rest));
  return {
    ...marked,
    anyOf: plain.map(({ type, rest }) => ({ allOf: [isOnly[type as keyof typeof isOnly], rest] })),
  };
}
