/** Merges an edit of an object in one version into its content in another version, which has more fields. */
import { canonicalJson, isSameJson } from "../../values/canonicaljson.ts";
import type { Json } from "../schema/place.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Applies the difference between `base` and `edited` to `kept`. All three have the same schema. A value that the edit does not
 * change remains as kept; a changed one is the edited one. Items of a list are recognized by the keys of a list map, by equality,
 * or by position.
 */
export function mergeEdit(kept: unknown, base: unknown, edited: unknown, schema: Json = {}): unknown {
  if (isSameJson(base, edited)) return kept;
  if (areFields(kept) && areFields(base) && areFields(edited)) return mergeFields(kept, base, edited, schema);
  if (Array.isArray(kept) && Array.isArray(base) && Array.isArray(edited))
    return mergeLists(kept, base, edited, schema);
  return edited;
}

const areFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function mergeFields(kept: Fields, base: Fields, edited: Fields, schema: Json): Fields {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Json>>;
  const others = areFields(schema.additionalProperties) ? (schema.additionalProperties as Json) : {};
  const names = [...new Set([...Object.keys(kept), ...Object.keys(edited)])];
  return Object.fromEntries(
    names
      .map((name) => [
        name,
        mergeEdit(
          kept[name],
          base[name],
          edited[name],
          Object.hasOwn(properties, name) ? properties[name] : others,
        ),
      ])
      .filter(([, value]) => value !== undefined),
  );
}

function mergeLists(
  kept: readonly unknown[],
  base: readonly unknown[],
  edited: readonly unknown[],
  schema: Json,
): readonly unknown[] {
  // Otherwise the items of the base are not those that were kept.
  if (kept.length !== base.length) return edited;
  const partners = partnersOf(base, edited, schema);
  return edited.map((item, at) => {
    const partner = partners[at];
    if (partner === undefined) return item;
    return mergeEdit(kept[partner], base[partner], item, (schema.items ?? {}) as Json);
  });
}

/** For each edited item, the position of the same item in the base. */
function partnersOf(
  base: readonly unknown[],
  edited: readonly unknown[],
  schema: Json,
): readonly (number | undefined)[] {
  const keys = schema["x-kubernetes-list-map-keys"] as readonly string[] | undefined;
  if (keys !== undefined)
    return matchedBy(base, edited, (item) => canonicalJson(keys.map((key) => (item as Fields)?.[key])));
  const partners = matchedBy(base, edited, canonicalJson);
  if (base.length !== edited.length) return partners;
  const taken = new Set(partners);
  return partners.map((partner, at) => (partner === undefined && !taken.has(at) ? at : partner));
}

/** Pairs items with the same identity, equal ones in their order. */
function matchedBy(
  base: readonly unknown[],
  edited: readonly unknown[],
  identityOf: (item: unknown) => string,
): readonly (number | undefined)[] {
  const free = Map.groupBy(base.keys(), (at) => identityOf(base[at]));
  return edited.map((item) => free.get(identityOf(item))?.shift());
}
