/** Versions of a kind: their schemas, and the functions that convert between them. */
import type { z } from "zod";
import type { ObjectMeta } from "./object.ts";
import type { Json } from "./schema/place.ts";
import { structuralSchema } from "./schema/structural.ts";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly jsonPath: string;
  readonly description?: string;
  /** Columns above 0 are shown only with `-o wide`. */
  readonly priority?: number;
}

/** Paths of the scale subresource, for `kubectl scale` and autoscalers. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  /** Path of a label selector as text. */
  readonly labelSelectorPath?: string;
}

/** What a kind's author declares for a version, in addition to its schemas. */
export interface VersionSettings {
  readonly columns?: readonly PrinterColumn[];
  /** CEL rules for the whole object, made by `cel`. Of its metadata they can use only the name. */
  readonly rules?: Readonly<Record<string, unknown>>;
  /** With it the version has the scale subresource. */
  readonly scale?: ScalePaths;
}

/** The part of an object that differs between versions. */
export interface Content<Spec = unknown, Status = unknown> {
  readonly spec: Spec;
  readonly status?: Status | undefined;
}

/** What a conversion receives. A conversion cannot change the metadata. */
export interface Convertible<Spec = unknown, Status = unknown> extends Content<Spec, Status> {
  readonly metadata: Readonly<ObjectMeta>;
}

/** A conversion: pure and deterministic. An error that it throws rejects the request for the object. */
export type Conversion = (object: Convertible) => Content;

/** A version of a kind, with its defaults filled in. */
export interface KindVersion {
  readonly name: string;
  readonly columns: readonly PrinterColumn[];
  readonly spec: z.ZodObject;
  readonly status: z.ZodObject | undefined;
  /** Both as structural schemas, for the API server. */
  readonly structural: { readonly spec: Json; readonly status: Json | undefined };
  readonly rules: Readonly<Record<string, unknown>>;
  readonly scale: ScalePaths | undefined;
}

/** A version that is served, but not stored. */
export interface ConvertedVersion extends KindVersion {
  /** True, or the warning that the API server returns to clients of this version. */
  readonly deprecated: true | string | undefined;
  /** Converts an object of this version to the stored one. */
  readonly upgrade: Conversion;
  /** Converts an object of the stored version to this one. */
  readonly downgrade: Conversion;
}

/** The type of a status with this schema. */
export type StatusOf<Status> = Status extends z.ZodObject ? z.infer<Status> : undefined;

/** The type of the status in a version. */
export type StatusAt<Statuses, Name> = Name extends keyof Statuses ? StatusOf<Statuses[Name]> : undefined;

/** The conversions of a version that is not stored. */
export interface Conversions<Spec, Status, StoredSpec, StoredStatus> {
  /** Marks the version as deprecated. A text replaces the warning that the API server returns to its clients. */
  readonly deprecated?: true | string;
  /** Converts an object of this version to the stored one: pure and deterministic. */
  readonly upgrade: (object: Convertible<Spec, Status>) => Content<StoredSpec, StoredStatus>;
  /** Converts an object of the stored version to this one: pure and deterministic. Fields that this version lacks are kept anyway. */
  readonly downgrade: (object: Convertible<StoredSpec, StoredStatus>) => Content<Spec, Status>;
}

/** Declarations of all versions, by name. All but the stored one have conversions from and to it. */
export type VersionOptions<Stored extends string, Specs, Statuses> = {
  readonly [Name in keyof Specs]: VersionSettings & {
    readonly spec: Specs[Name];
    readonly status?: z.ZodObject;
  } & (Name extends Stored
      ? object
      : Conversions<
          SpecAt<Specs, Name>,
          StatusAt<Statuses, Name>,
          SpecAt<Specs, Stored>,
          StatusAt<Statuses, Stored>
        >);
} & { readonly [Name in keyof Statuses]: { readonly status?: Statuses[Name] } };

/** The type of the spec in a version. */
export type SpecAt<Specs, Name> = Name extends keyof Specs
  ? Specs[Name] extends z.ZodObject
    ? z.infer<Specs[Name]>
    : never
  : never;

/** The type of a kind's spec and status in one version. */
export type ContentAt<Specs, Statuses, Name> = Content<SpecAt<Specs, Name>, StatusAt<Statuses, Name>>;

/** A version as declared, after its types were checked. */
export type DeclaredVersion = VersionSettings & {
  readonly spec: z.ZodObject;
  readonly status?: z.ZodObject | undefined;
} & Partial<Pick<ConvertedVersion, "deprecated" | "upgrade" | "downgrade">>;

/** The API server cannot check a kind's schema. The message names each field, and what to write instead. */
export class UnsupportedSchemaError extends Error {
  override readonly name = "UnsupportedSchemaError";
}

/** Fills in defaults and converts the schemas. Throws an {@link UnsupportedSchemaError}; `subject` names the kind in its message. */
export function versionOf(name: string, options: DeclaredVersion, subject: string): KindVersion {
  const problems: string[] = [];
  const spec = structuralSchema(options.spec, "spec", problems);
  const status = options.status && structuralSchema(options.status, "status", problems);
  if (problems.length > 0)
    throw new UnsupportedSchemaError(
      `the schema of ${subject} cannot be the schema of a CRD:\n${problems.map((problem) => `  ${problem}`).join("\n")}`,
    );
  return {
    name,
    columns: options.columns ?? [],
    spec: options.spec,
    status: options.status,
    structural: { spec, status },
    rules: options.rules ?? {},
    scale: options.scale,
  };
}

/** Kubernetes requires a DNS label that starts with a letter. */
const versionName = /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** The stored version, and those that are converted. Throws a `TypeError` if the declaration is incomplete. */
export function versionsOf(
  declared: Readonly<Record<string, DeclaredVersion>>,
  stored: string,
  subject: string,
): { readonly stored: KindVersion; readonly converted: readonly ConvertedVersion[] } {
  const names = Object.keys(declared);
  const wrong = names.find((name) => !versionName.test(name));
  if (wrong !== undefined)
    throw new TypeError(`expected versions of ${subject} such as v1alpha1 or v1, found "${wrong}"`);
  const main = declared[stored];
  if (main === undefined)
    throw new TypeError(
      `expected the stored version of ${subject} among its versions (${names.join(", ")}), found "${stored}"`,
    );
  return {
    stored: versionOf(stored, main, `${subject} ${stored}`),
    converted: names
      .filter((name) => name !== stored)
      .map((name) => convertedVersion(name, declared[name] as DeclaredVersion, subject)),
  };
}

function convertedVersion(name: string, options: DeclaredVersion, subject: string): ConvertedVersion {
  const { deprecated, upgrade, downgrade } = options;
  if (typeof upgrade !== "function" || typeof downgrade !== "function")
    throw new TypeError(
      `expected the functions upgrade and downgrade in the version ${name} of ${subject}, which is not stored`,
    );
  return { ...versionOf(name, options, `${subject} ${name}`), deprecated, upgrade, downgrade };
}
