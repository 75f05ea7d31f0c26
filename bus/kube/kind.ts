/**
 * Kinds. One zod schema is the source of a kind's TypeScript type, of its validation at runtime, and of its CRD (`crd.ts`).
 * {@link externalKind} declares kinds of other projects with a type only.
 */
import type { z } from "zod";
import { type AdmissionHooks, type AdmissionOptions, admissionHooks } from "./admission.ts";
import {
  type ContentAt,
  type ConvertedVersion,
  type DeclaredVersion,
  type KindVersion,
  type VersionOptions,
  type VersionSettings,
  versionOf,
  versionsOf,
} from "./kindversions.ts";
import type { KubeObject, Stored } from "./object.ts";
import { pluralOf } from "./plural.ts";

/** The scope of a kind's objects. */
export type Scope = "Namespaced" | "Cluster";

/** Where the platform watches a kind: in all namespaces, or only in those that were opted in. */
export type Reach = "all" | "opted-in";

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

/** The definition of a kind's CRD. Schemas, columns, rules, and paths are those of the stored version. */
export interface KindDefinition extends Omit<KindVersion, "name"> {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly description: string;
  /** Further versions. The API server converts their objects through a webhook. */
  readonly converted: readonly ConvertedVersion[];
  /** Hooks that the API server calls, through a webhook, before it stores an object. */
  readonly admission: AdmissionHooks | undefined;
  /**
   * The role within a namespace that may write its objects: `edit`, `admin`, or, with `cluster-admin`, none: then only cluster
   * administrators may.
   */
  readonly writers: "edit" | "admin" | "cluster-admin";
}

/** The object type of a kind: `ObjectOf<typeof Hikawa>`. */
export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

/** Options that all versions of a kind share. */
export interface CommonOptions {
  readonly group: string;
  readonly kind: string;
  /** Default: {@link pluralOf} the kind. */
  readonly plural?: string;
  readonly scope?: Scope;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly description: string;
  /** `admin` for kinds whose objects grant permissions, `cluster-admin` if these reach beyond the namespace. Default: `edit`. */
  readonly writers?: KindDefinition["writers"];
}

/** Options of {@link defineKind} for a kind with one version. */
export interface KindOptions<Spec extends z.ZodObject, Status extends z.ZodObject | undefined>
  extends CommonOptions,
    VersionSettings {
  readonly version: string;
  readonly versions?: undefined;
  readonly storage?: undefined;
  readonly spec: Spec;
  /** With a status schema the kind has the status subresource. */
  readonly status?: Status;
  /** Hooks that change or reject objects before the API server stores them. Prefer `cel` where a rule can express them. */
  readonly admission?: AdmissionOptions<ObjectWith<Spec, Status>>;
}

/** The type of objects with these schemas. */
export type ObjectWith<Spec extends z.ZodObject, Status extends z.ZodObject | undefined> = KubeObject<
  z.infer<Spec>,
  Status extends z.ZodObject ? z.infer<Status> : undefined
>;

/** Options of {@link defineKind} for a kind with several versions. */
export interface VersionedKindOptions<Version extends string, Specs, Statuses> extends CommonOptions {
  /** The version that the API server stores, that the bridge watches, and that functions see. */
  readonly storage: Version & keyof Specs;
  readonly versions: VersionOptions<Version, Specs, Statuses>;
  readonly version?: undefined;
  /** Hooks that change or reject objects before the API server stores them. They see the stored version, as functions do. */
  readonly admission?: AdmissionOptions<ObjectAt<Specs, Statuses, Version>>;
}

/** The type of objects in one of several versions. */
export type ObjectAt<Specs, Statuses, Name> = KubeObject<
  ContentAt<Specs, Statuses, Name>["spec"],
  ContentAt<Specs, Statuses, Name>["status"]
>;

/** A schema of each version, by the version's name. */
export type Schemas = Record<string, z.ZodObject>;

/**
 * Defines a kind of this project. Throws an {@link UnsupportedSchemaError} if the API server cannot check the schema, and a
 * `TypeError` if a version lacks its conversions, or admission hooks are incomplete.
 *
 * @example
 * ```ts
 * const Zundoko = defineKind({
 *   group: "example.com", version: "v1", kind: "Zundoko", description: "One word of the song.",
 *   spec: z.object({ say: z.enum(["Zun", "Doko"]) }),
 * });
 * ```
 *
 * @example
 * ```ts
 * const Greeting = defineKind({
 *   group: "example.com", kind: "Greeting", description: "A greeting.", storage: "v1",
 *   versions: {
 *     v1alpha1: {
 *       spec: z.object({ who: z.string() }),
 *       upgrade: ({ spec }) => ({ spec: { people: [spec.who] } }),
 *       downgrade: ({ spec }) => ({ spec: { who: spec.people[0] ?? "" } }),
 *     },
 *     v1: { spec: z.object({ people: z.array(z.string()) }) },
 *   },
 * });
 * ```
 */
export function defineKind<
  Spec extends z.ZodObject,
  Status extends z.ZodObject | undefined = undefined,
  const Version extends string = never,
  Specs extends Schemas = never,
  Statuses extends Record<string, unknown> = never,
>(
  options: KindOptions<Spec, Status> | VersionedKindOptions<Version, Specs, Statuses>,
): Kind<[Version] extends [never] ? ObjectWith<Spec, Status> : ObjectAt<Specs, Statuses, Version>> {
  const singular = options.kind.toLowerCase();
  const { stored, converted } = declaredVersions(options as AnyOptions);
  const { name: version, ...schemas } = stored;
  return {
    group: options.group,
    version,
    kind: options.kind,
    plural: options.plural ?? pluralOf(options.kind),
    scope: options.scope ?? "Namespaced",
    publish: "object",
    reach: "all",
    definition: {
      ...schemas,
      singular,
      shortNames: options.shortNames ?? [],
      categories: options.categories ?? [],
      description: options.description,
      converted,
      admission: admissionHooks(options.admission as AdmissionOptions | undefined, kindText(options)),
      writers: options.writers ?? "edit",
    },
  };
}

type AnyOptions =
  | KindOptions<z.ZodObject, z.ZodObject | undefined>
  | VersionedKindOptions<string, Schemas, Record<string, unknown>>;

function declaredVersions(options: AnyOptions): ReturnType<typeof versionsOf> {
  const subject = kindText(options);
  if (options.versions === undefined)
    return { stored: versionOf(options.version, options, subject), converted: [] };
  const declared = options.versions as unknown as Readonly<Record<string, DeclaredVersion>>;
  return versionsOf(declared, options.storage, subject);
}

/** Properties of core kinds, by their plural, which declarations cannot override. */
const confidential: Readonly<Record<string, Partial<Pick<Kind, "publish" | "reach">>>> = {
  secrets: { publish: "metadata", reach: "opted-in" },
  configmaps: { publish: "metadata" },
};

/**
 * Declares a kind of another project, such as Kubernetes itself. Throws a `TypeError` for a cluster-scoped kind with the reach
 * `opted-in`.
 *
 * @example
 * ```ts
 * const CronJob = externalKind({ group: "batch", version: "v1", kind: "CronJob", plural: "cronjobs" });
 * ```
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
