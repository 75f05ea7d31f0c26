/**
 * Kinds. One zod schema is the source of a kind's TypeScript type, of its validation at runtime, and of its CRD (`crd.ts`).
 * {@link externalKind} declares kinds of other projects with a type only.
 */
import type { z } from "zod";
import type { KubeObject, Stored } from "./object.ts";
import type { Json } from "./schema/place.ts";
import { structuralSchema } from "./schema/structural.ts";

/** The scope of a kind's objects. */
export type Scope = "Namespaced" | "Cluster";

/** Where the platform watches a kind: in all namespaces, or only in those that were opted in. */
export type Reach = "all" | "opted-in";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly jsonPath: string;
  readonly description?: string;
  /** Columns above 0 are shown only with `-o wide`. */
  readonly priority?: number;
}

/** What the platform needs to know to read, watch, and write a kind. */
export interface Kind<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: Scope;
  /** Whether to publish whole objects. `metadata` is for kinds with secret or bulky content. */
  readonly publish: "object" | "metadata";
  /**
   * Fields to publish in addition to the metadata, such as `spec` or `status.conditions.type`, also within lists. Default: all.
   * List them for kinds whose objects quote the output of programs; functions read the rest from the API server. The list has
   * to include every field that a function applies.
   */
  readonly fields?: readonly string[] | undefined;
  /**
   * `opted-in` is for kinds that no component should read everywhere. RBAC cannot separate metadata from content: a user that
   * may list Secrets can read them.
   */
  readonly reach: Reach;
  /** Set for kinds of this project. */
  readonly definition?: KindDefinition;
  /** Carries the object's type; never set. */
  readonly example?: T;
}

/** The definition of a kind's CRD. */
export interface KindDefinition {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly columns: readonly PrinterColumn[];
  readonly spec: z.ZodObject;
  readonly status: z.ZodObject | undefined;
  /** Both as structural schemas, for the API server. */
  readonly structural: { readonly spec: Json; readonly status: Json | undefined };
  readonly description: string;
  readonly rules: Readonly<Record<string, unknown>>;
  readonly scale: ScalePaths | undefined;
  /**
   * The role within a namespace that may write its objects: `edit`, `admin`, or, with `cluster-admin`, none: then only cluster
   * administrators may.
   */
  readonly writers: "edit" | "admin" | "cluster-admin";
}

/** Paths of the scale subresource, for `kubectl scale` and autoscalers. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  /** Path of a label selector as text. */
  readonly labelSelectorPath?: string;
}

/** The object type of a kind: `ObjectOf<typeof Hikawa>`. */
export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

/** Options of {@link defineKind}. */
export interface KindOptions<Spec extends z.ZodObject, Status extends z.ZodObject | undefined> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Default: the kind in lower case, and an `s`. */
  readonly plural?: string;
  readonly scope?: Scope;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly columns?: readonly PrinterColumn[];
  readonly description: string;
  readonly spec: Spec;
  /** With a status schema the kind has the status subresource. */
  readonly status?: Status;
  /** CEL rules for the whole object, made by `cel`. Of its metadata they can use only the name. */
  readonly rules?: Readonly<Record<string, unknown>>;
  /** With it the kind has the scale subresource. */
  readonly scale?: ScalePaths;
  /** `admin` for kinds whose objects grant permissions, `cluster-admin` if these reach beyond the namespace. Default: `edit`. */
  readonly writers?: KindDefinition["writers"];
}

/**
 * Defines a kind of this project. Throws an {@link UnsupportedSchemaError} if the API server cannot check the schema.
 *
 * @example
 * const Zundoko = defineKind({
 *   group: "example.com", version: "v1", kind: "Zundoko", description: "One word of the song.",
 *   spec: z.object({ say: z.enum(["Zun", "Doko"]) }),
 * });
 */
export function defineKind<Spec extends z.ZodObject, Status extends z.ZodObject | undefined = undefined>(
  options: KindOptions<Spec, Status>,
): Kind<KubeObject<z.infer<Spec>, Status extends z.ZodObject ? z.infer<Status> : undefined>> {
  const singular = options.kind.toLowerCase();
  const structural = structuralSchemas(options);
  return {
    group: options.group,
    version: options.version,
    kind: options.kind,
    plural: options.plural ?? `${singular}s`,
    scope: options.scope ?? "Namespaced",
    publish: "object",
    reach: "all",
    definition: {
      singular,
      shortNames: options.shortNames ?? [],
      categories: options.categories ?? [],
      columns: options.columns ?? [],
      description: options.description,
      spec: options.spec,
      status: options.status,
      structural,
      rules: options.rules ?? {},
      scale: options.scale,
      writers: options.writers ?? "edit",
    },
  };
}

/** The API server cannot check a kind's schema. The message names each field, and what to write instead. */
export class UnsupportedSchemaError extends Error {
  override readonly name = "UnsupportedSchemaError";
}

function structuralSchemas(
  options: Pick<KindOptions<z.ZodObject, z.ZodObject | undefined>, "group" | "kind" | "spec" | "status">,
): KindDefinition["structural"] {
  const problems: string[] = [];
  const spec = structuralSchema(options.spec, "spec", problems);
  const status = options.status && structuralSchema(options.status, "status", problems);
  if (problems.length === 0) return { spec, status };
  throw new UnsupportedSchemaError(
    `the schema of ${kindText(options)} cannot be the schema of a CRD:\n${problems.map((problem) => `  ${problem}`).join("\n")}`,
  );
}

/** Properties of core kinds, by their plural, which declarations cannot override. */
const confidential: Readonly<Record<string, Partial<Pick<Kind, "publish" | "reach">>>> = {
  secrets: { publish: "metadata", reach: "opted-in" },
  configmaps: { publish: "metadata" },
};

/**
 * Declares a kind of another project, such as Kubernetes itself. Throws a `TypeError` for a cluster-scoped kind with the reach
 * `opted-in`.
 */
export function externalKind<T extends KubeObject = KubeObject>(
  kind: Pick<Kind, "group" | "version" | "kind" | "plural"> &
    Partial<Pick<Kind, "scope" | "publish" | "fields" | "reach">>,
): Kind<T> {
  const declared = {
    scope: "Namespaced",
    publish: "object",
    reach: "all",
    ...kind,
    ...(kind.group === "" && confidential[kind.plural]),
  } as const;
  if (declared.scope === "Cluster" && declared.reach === "opted-in") {
    throw new TypeError(`expected ${kind.kind}, which is watched in opted-in namespaces, to be namespaced`);
  }
  return declared;
}

/** A Secret in the API server. The bus has only its metadata. */
export interface SecretObject extends KubeObject {
  readonly type?: string;
  readonly immutable?: boolean;
  /** Values in base64. */
  readonly data?: Readonly<Record<string, string>>;
}

/** Secrets. Only their metadata reaches the bus, and only from opted-in namespaces. */
export const Secret = externalKind<SecretObject>({
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  publish: "metadata",
  reach: "opted-in",
});

/** A ConfigMap in the API server. The bus has only its metadata. */
export interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** ConfigMaps. Only their metadata reaches the bus. */
export const ConfigMap = externalKind<ConfigMapObject>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  publish: "metadata",
});

/** Pods. */
export const Pod = externalKind({ group: "", version: "v1", kind: "Pod", plural: "pods" });

/** Namespaces. */
export const Namespace = externalKind({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster",
  publish: "metadata",
});

/** `group/version`, or the bare version of the core group. */
export const apiVersionOf = (kind: Pick<Kind, "group" | "version">): string =>
  kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;

/** `Hikawa.zundokokiyoshi.kaitoy.github.com`: a kind in logs, metrics, and errors. */
export const kindText = (kind: Pick<Kind, "group" | "kind">): string =>
  kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`;

/** A stored object does not match its kind's schema. */
export class InvalidObjectError extends Error {
  override readonly name = "InvalidObjectError";
}

/**
 * Validates an object against its kind's schema. The rules are the CRD's; objects may have been stored before a rule was
 * tightened, or under a CRD of another version. Throws {@link InvalidObjectError} that names each field.
 */
export function checkObject<T extends KubeObject>(kind: Kind<T>, object: Stored<T>): Stored<T> {
  const schema = kind.definition?.spec;
  if (schema === undefined) return object;
  const result = schema.safeParse(object.spec ?? {});
  if (result.success) return object;
  const problems = result.error.issues.map(
    (issue) => `spec${issue.path.map((step) => `.${String(step)}`).join("")}: ${issue.message}`,
  );
  throw new InvalidObjectError(
    `the ${kind.kind} does not match its schema: ${problems.join("; ")}. Correct the fields, or install the ` +
      `CRD of this version (denrei crds | kubectl apply -f -) so that the API server rejects them.`,
  );
}
