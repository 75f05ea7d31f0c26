/** Generates CustomResourceDefinitions from kinds: the zod schema becomes a structural OpenAPI schema. */
import type { Kind, KindDefinition } from "./kind.ts";
import type { Json } from "./schema/place.ts";

/** A CEL rule of a CRD schema (`x-kubernetes-validations`). */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
}

/**
 * Metadata for a schema's CEL rules: `z.object({…}).meta(cel({ rule: "…", message: "…" }))`.
 * Only the API server checks the rule. Add an equal zod refinement for the check at runtime.
 */
export const cel = (...rules: CelRule[]): Record<string, unknown> => ({ "x-kubernetes-validations": rules });

/**
 * Metadata for a list whose items the named fields identify, so that server-side apply merges them. The API server rejects two
 * items with the same values of these; zod does so only with a refinement.
 */
export const listMap = (...keys: string[]): Record<string, unknown> => ({
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
});

/** The CRD of one of our kinds, as a JSON object. Throws for external kinds: their owner installs them. */
export function crdOf(kind: Kind): Json {
  const definition = kind.definition;
  if (definition === undefined) {
    throw new TypeError(`${kind.kind} is an external kind: its owner provides the CRD`);
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
      spec: definition.structural.spec,
      ...(definition.structural.status && { status: definition.structural.status }),
    },
  };
}
