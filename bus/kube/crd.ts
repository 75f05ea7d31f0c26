/** Generates CustomResourceDefinitions from kinds: the zod schema becomes a structural OpenAPI schema. */
import type { Kind, KindDefinition } from "./kind.ts";
import type { KindVersion } from "./kindversions.ts";
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
 *
 * @example
 * ```ts
 * ports: z.array(z.object({ name: z.string(), port: z.int() })).meta(listMap("name")),
 * ```
 */
export const listMap = (...keys: string[]): Record<string, unknown> => ({
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
});

/** Where the API server reaches the webhook: at a URL, or at port 443 of a Service. */
export type WebhookAddress =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string } };

/** The webhook of kinds, `denrei admission`: it converts objects between versions, and runs admission hooks. */
export interface ConversionWebhook {
  readonly address: WebhookAddress;
  /** Certificates that sign the webhook's certificate, PEM. Undefined if something else adds them to the manifests. */
  readonly ca: string | undefined;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Whether the API server needs a webhook for objects of the kind: for conversions, or for admission hooks. */
export const needsWebhook = (kind: Kind): boolean =>
  needsConversion(kind) || kind.definition?.admission !== undefined;

/** Whether the API server needs a webhook to convert objects of the kind, which its CRD then names. */
export const needsConversion = ({ definition }: Kind): boolean => (definition?.converted ?? []).length > 0;

/** The path at which the webhook converts objects. */
export const conversionPath = "/convert";

/**
 * The CRD of one of our kinds, as a JSON object. Throws a `TypeError` for external kinds, whose owner installs them, and for kinds
 * with several versions without a `webhook`.
 */
export function crdOf(kind: Kind, webhook?: ConversionWebhook): Json {
  const definition = kind.definition;
  if (definition === undefined) {
    throw new TypeError(`${kind.kind} is an external kind: its owner provides the CRD`);
  }
  const { converted } = definition;
  if (needsConversion(kind) && webhook === undefined)
    throw new TypeError(
      `${kind.kind} has several versions: its CRD needs the address of a webhook that converts its objects (denrei admission)`,
    );
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${kind.plural}.${kind.group}`,
      ...(converted.length > 0 && webhook?.annotations && { annotations: webhook.annotations }),
    },
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
        ...converted.map((version) => versionSchema(version, definition, "converted", version.deprecated)),
        versionSchema({ ...definition, name: kind.version }, definition, "stored"),
      ],
      ...(converted.length > 0 && webhook && { conversion: conversionBy(webhook) }),
    },
  };
}

const conversionBy = (webhook: ConversionWebhook): Json => ({
  strategy: "Webhook",
  webhook: { conversionReviewVersions: ["v1"], clientConfig: clientConfigOf(webhook, conversionPath) },
});

/** How the API server calls the webhook at a path. */
export const clientConfigOf = ({ address, ca }: ConversionWebhook, path: string): Json => ({
  ...("url" in address
    ? { url: `${address.url}${path}` }
    : { service: { ...address.service, path, port: 443 } }),
  ...(ca !== undefined && { caBundle: btoa(ca) }),
});

function versionSchema(
  version: KindVersion,
  { description }: KindDefinition,
  role: "stored" | "converted",
  deprecated?: true | string,
): Json {
  return {
    name: version.name,
    served: true,
    storage: role === "stored",
    ...(deprecated !== undefined && { deprecated: true }),
    ...(typeof deprecated === "string" && { deprecationWarning: deprecated }),
    ...((version.status || version.scale) && {
      subresources: {
        ...(version.status && { status: {} }),
        ...(version.scale && { scale: version.scale }),
      },
    }),
    ...(version.columns.length > 0 && { additionalPrinterColumns: version.columns }),
    schema: { openAPIV3Schema: objectSchema(version, description) },
  };
}

function objectSchema(version: KindVersion, description: string): Json {
  return {
    type: "object",
    description,
    required: ["spec"],
    ...version.rules,
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: version.structural.spec,
      ...(version.structural.status && { status: version.structural.status }),
    },
  };
}
