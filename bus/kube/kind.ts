/**
 * Kinds. One zod schema is the source of a kind's TypeScript type, of the check at runtime and of its CRD
 * (`crd.ts`); kinds that others define are declared by {@link externalKind} with a type alone.
 */
import type { z } from "zod";
import type { KubeObject, Stored } from "./object.ts";
import type { Json } from "./schema/place.ts";
import { structuralSchema } from "./schema/structural.ts";

/** Where a kind's objects live. */
export type Scope = "Namespaced" | "Cluster";

/** Where the platform looks at a kind's objects: in all namespaces, or in those alone that were opted in. */
export type Reach = "all" | "opted-in";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly jsonPath: string;
  readonly description?: string;
  /** Columns above 0 are shown with `-o wide` only. */
  readonly priority?: number;
}

/** What the platform needs to know to read, watch and write a kind. */
export interface Kind<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: Scope;
  /** What of an object may go on the bus. `metadata` is for kinds whose content is secret or bulky. */
  readonly publish: "object" | "metadata";
  /**
   * Fields that are published beside the metadata, such as `spec` or `status.conditions.type`, also within lists. Default: all of them.
   * Name them for kinds whose objects quote the output of programs; functions read the rest from the API server. The list has to
   * include every field that a function applies.
   */
  readonly fields?: readonly string[] | undefined;
  /**
   * `opted-in` is for kinds that nobody should read everywhere. Rights can not tell an object's metadata from its content:
   * whoever may list Secrets reads them.
   */
  readonly reach: Reach;
  /** Set for kinds that this project defines. */
  readonly definition?: KindDefinition;
  /** Carries the object's type; never set. */
  readonly example?: T;
}

/** What makes a kind's CRD. */
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
   * Which of a namespace's people may write its objects: those who edit it, those alone who administer it, or none of them:
   * whoever administers the cluster.
   */
  readonly writers: "edit" | "admin" | "cluster-admin";
}

/** Where `kubectl scale` and autoscalers find their numbers: the scale subresource. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  /** Of a label selector, as text. */
  readonly labelSelectorPath?: string;
}

/** The object type of a kind: `ObjectOf<typeof Hikawa>`. */
export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

/** A kind of ours. */
export interface KindOptions<Spec extends z.ZodObject, Status extends z.ZodObject | undefined> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Default: the lower-case kind and an `s`. */
  readonly plural?: string;
  readonly scope?: Scope;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly columns?: readonly PrinterColumn[];
  readonly description: string;
  readonly spec: Spec;
  /** With a status schema the kind has the status subresource. */
  readonly status?: Status;
  /** CEL rules for the whole object, made by `cel`: of its metadata they can name the name alone. */
  readonly rules?: Readonly<Record<string, unknown>>;
  /** With it the kind has the scale subresource. */
  readonly scale?: ScalePaths;
  /** `admin` for kinds whose objects hand out rights, `cluster-admin` where these reach further than the namespace. Default: `edit`. */
  readonly writers?: KindDefinition["writers"];
}

/**
 * Defines a kind of this project. Throws an {@link UnsupportedSchemaError} where the API server cannot check what the schema says.
 *
 * @example
 * const Zundoko = defineKind({
 *   group: "example.com", version: "v1", kind: "Zundoko", description: "A word that was said.",
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

/** The API server cannot check what a kind's schema says. The message names each field, and what to write instead. */
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

/** Kinds of the core group, by their plural, and what holds for them whatever a declaration says. */
const confidential: Readonly<Record<string, Partial<Pick<Kind, "publish" | "reach">>>> = {
  secrets: { publish: "metadata", reach: "opted-in" },
  configmaps: { publish: "metadata" },
};

/**
 * Declares a kind that somebody else defines: Kubernetes itself, or another operator. Throws a `TypeError` when objects that
 * are in no namespace are to be looked at in opted-in ones.
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
    throw new TypeError(`expected ${kind.kind}, which is looked at in opted-in namespaces, to be namespaced`);
  }
  return declared;
}

/** A Secret as the API server has it. On the bus there is only its metadata. */
export interface SecretObject extends KubeObject {
  readonly type?: string;
  readonly immutable?: boolean;
  /** Values in base64. */
  readonly data?: Readonly<Record<string, string>>;
}

/** Secrets: only their metadata ever reaches the bus, and only of opted-in namespaces. */
export const Secret = externalKind<SecretObject>({
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  publish: "metadata",
  reach: "opted-in",
});

/** A ConfigMap as the API server has it. On the bus there is only its metadata. */
export interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** ConfigMaps: only their metadata ever reaches the bus. */
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

/** `Hikawa.zundokokiyoshi.kaitoy.github.com`: a kind in logs, metrics and errors. */
export const kindText = (kind: Pick<Kind, "group" | "kind">): string =>
  kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`;

/** The object does not fit its kind's schema, although the API server stores it. */
export class InvalidObjectError extends Error {
  override readonly name = "InvalidObjectError";
}

/**
 * Checks an object against its kind's schema: the same rules as the CRD's, for objects stored before a rule was
 * tightened or by a CRD of another version. Throws {@link InvalidObjectError} that names each field.
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
    `the ${kind.kind} does not fit its schema: ${problems.join("; ")}. Correct the fields, or install the ` +
      `CRD that belongs to this version (denrei crds | kubectl apply -f -) so that the API server refuses them.`,
  );
}
