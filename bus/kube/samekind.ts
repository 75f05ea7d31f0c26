/** Compares two definitions of a kind. */
import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { type ConversionWebhook, crdOf } from "./crd.ts";
import type { Kind } from "./kind.ts";

/** The address of the webhook does not matter for the comparison. */
const anyWebhook: ConversionWebhook = { address: { url: "" }, ca: undefined };

/** Whether two of our kinds have the same CRD, writers, refinements, conversions, and admission hooks. */
export function haveSameDefinition(one: Kind, other: Kind): boolean {
  return (
    one === other ||
    (one.definition?.writers === other.definition?.writers &&
      isDeepStrictEqual(one.definition?.admission, other.definition?.admission) &&
      isDeepStrictEqual(crdOf(one, anyWebhook), crdOf(other, anyWebhook)) &&
      haveSameCode(one, other))
  );
}

/** Code is known to be the same only if it is the same function. */
function haveSameCode(one: Kind, other: Kind): boolean {
  const [ours, theirs] = [codeOf(one), codeOf(other)];
  return ours.length === theirs.length && ours.every((code, at) => code === theirs[at]);
}

const codeOf = ({ definition }: Kind): unknown[] => {
  const { converted = [] } = definition ?? {};
  const schemas = [definition, ...converted].flatMap((version) => [version?.spec, version?.status]);
  return [
    ...schemas.flatMap((schema) => (schema ? codeIn(schema) : [])),
    ...converted.flatMap(({ upgrade, downgrade }) => [upgrade, downgrade]),
  ];
};

/** The functions of all refinements in a schema, in the order of its fields. */
function codeIn(schema: z.core.$ZodType): unknown[] {
  const { def } = schema._zod as z.core.$ZodTypes["_zod"];
  const own = (def.checks ?? []).flatMap((check) => {
    const { def: checkDef, check: run } = check._zod;
    if (checkDef.check !== "custom") return [];
    return [(checkDef as { readonly fn?: unknown }).fn ?? run];
  });
  const inner = def.type === "lazy" ? [(schema as z.core.$ZodLazy)._zod.innerType] : Object.values(def);
  return [...own, ...inner.flatMap(codeInValue)];
}

function codeInValue(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if ("_zod" in value)
    return "type" in (value as z.core.$ZodType)._zod.def ? codeIn(value as z.core.$ZodType) : [];
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? Object.values(value).flatMap(codeInValue) : [];
}
