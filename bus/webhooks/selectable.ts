/**
 * Checks that a schema only selects fields. Each function parses the published fields again, and these are the union of several
 * selections. So a schema must accept its own output, and must not reject fields of others.
 */
import type { z } from "zod";

/** What a type of zod does that a selection must not do, or the schemas within it. */
type Inner = string | readonly z.core.$ZodType[];

const computes = "computes a value: compute it in `keys` instead";
const notJson = "is not JSON";

/** Throws a `TypeError` that names the first field with an unsupported schema. */
export function expectSelection(schema: z.core.$ZodType, what: string): void {
  const problem = problemIn(schema, "", new Set());
  if (problem !== undefined) throw new TypeError(`${what} must only select fields, but ${problem}`);
}

function problemIn(schema: z.core.$ZodType, path: string, seen: Set<z.core.$ZodType>): string | undefined {
  // Recursive schemas are met again.
  if (seen.has(schema)) return undefined;
  seen.add(schema);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "object") return problemInObject(def, path, seen);
  const inner = innerOf(schema as z.core.$ZodTypes);
  if (typeof inner === "string") return `${path || "its value"} ${inner}`;
  for (const one of inner) {
    const problem = problemIn(one, path, seen);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemInObject(
  { shape, catchall }: z.core.$ZodObjectDef,
  path: string,
  seen: Set<z.core.$ZodType>,
): string | undefined {
  const at = path || "its value";
  if (catchall?._zod.def.type === "never")
    return `${at} is strict: senders may add fields at any time, so use z.object`;
  for (const [name, field] of Object.entries(shape)) {
    const problem = problemIn(field, path === "" ? name : `${path}.${name}`, seen);
    if (problem !== undefined) return problem;
  }
  return catchall === undefined ? undefined : problemIn(catchall, path, seen);
}

function innerOf(schema: z.core.$ZodTypes): Inner {
  const { def } = schema._zod;
  if ("coerce" in def && def.coerce) return computes;
  switch (def.type) {
    case "string":
      return (def.checks ?? []).some((check) => check._zod.def.check === "overwrite") ? computes : [];
    case "number":
    case "boolean":
    case "null":
    case "any":
    case "unknown":
    case "never":
    case "enum":
    case "literal":
    case "template_literal":
      return [];
    case "array":
      return [def.element];
    case "tuple":
      return [...def.items, ...(def.rest === null ? [] : [def.rest])];
    case "record":
      return [def.keyType, def.valueType];
    case "union":
      return def.options;
    case "intersection":
      return [def.left, def.right];
    case "lazy":
      return [def.getter()];
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "nonoptional":
    case "readonly":
    case "catch":
      return [def.innerType];
    case "pipe":
    case "transform":
    case "success":
      return computes;
    default:
      return notJson;
  }
}
