/** CustomResourceDefinitions from kinds: the zod schema becomes a structural OpenAPI schema. */
import { z } from "zod";
import type { Kind, KindDefinition } from "./kind.ts";

type Json = { [key: string]: unknown };

/** A CEL rule of a CRD schema (`x-kubernetes-validations`). */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
}

/**
 * Metadata for a schema's CEL rules: `z.object({…}).meta(cel({ rule: "…", message: "…" }))`.
 * The rule speaks for the API server; say the same with a zod refinement for the check at runtime.
 */
export const cel = (...rules: CelRule[]): Record<string, unknown> => ({ "x-kubernetes-validations": rules });

/** Metadata for a list whose items are told apart by the named fields, so that server-side apply merges them. */
export const listMap = (...keys: string[]): Record<string, unknown> => ({
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
});

/** The CRD of a kind of ours, as a JSON object. Throws for external kinds: their owner installs them. */
export function crdOf(kind: Kind): Json {
  const definition = kind.definition;
  if (definition === undefined) {
    throw new TypeError(`${kind.kind} is an external kind: its CRD belongs to whoever defines it`);
  }
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${kind.plural}.${kind.group}` },
    spec: {
      group: kind.group,
      scope: kind.scope,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: definition.singular,
        ...(definition.shortNames.length > 0 && { shortNames: definition.shortNames }),
        ...(definition.categories.length > 0 && { categories: definition.categories }),
      },
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          ...((definition.status || definition.scale) && {
            subresources: {
              ...(definition.status && { status: {} }),
              ...(definition.scale && { scale: definition.scale }),
            },
          }),
          ...(definition.columns.length > 0 && { additionalPrinterColumns: definition.columns }),
          schema: { openAPIV3Schema: objectSchema(definition) },
        },
      ],
    },
  };
}

function objectSchema(definition: KindDefinition): Json {
  return {
    type: "object",
    description: definition.description,
    required: ["spec"],
    ...definition.rules,
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: structural(definition.spec),
      ...(definition.status && { status: structural(definition.status) }),
    },
  };
}

/** JSON Schema (OpenAPI 3.0 dialect) without what structural schemas do not allow. */
function structural(schema: z.ZodObject): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    target: "openapi-3.0",
    io: "input",
    unrepresentable: "throw",
  }) as Json;
  return prune(json);
}

const safe = Number.MAX_SAFE_INTEGER;

function prune(schema: Json): Json {
  const out: Json = {};
  for (const [key, value] of Object.entries(schema)) {
    // Closed objects prune unknown fields by themselves; a boolean here is not structural beside properties.
    if (key === "additionalProperties" && typeof value === "boolean") continue;
    if (key === "propertyNames") continue;
    // zod bounds its integers by what a double holds; an API field has a format instead.
    if (key === "minimum" && value === -safe) continue;
    if (key === "maximum" && value === safe) continue;
    out[key] =
      key === "properties"
        ? mapValues(value as Json, (property) => prune(property as Json))
        : (key === "items" || key === "additionalProperties") && isObject(value)
          ? prune(value)
          : value;
  }
  if (out.type === "integer") out.format ??= "int64";
  if (out["x-kubernetes-preserve-unknown-fields"] === true) delete out.additionalProperties;
  // Says the same as the alternatives.
  if (out["x-kubernetes-int-or-string"] === true) delete out.anyOf;
  return out;
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const mapValues = (object: Json, map: (value: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
