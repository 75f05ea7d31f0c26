/** Kubernetes objects in their wire form: plain JSON, no classes. */

/** An owner of an object. At most one owner is its controller. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** The part of `metadata` that the platform and its functions use. Times are RFC 3339 text. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
}

/** Any Kubernetes object. */
export interface KubeObject<Spec = unknown, Status = unknown> {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: Spec;
  status?: Status;
}

/** An object that the API server has stored: it has an identity and a version. */
export type Stored<T extends KubeObject = KubeObject> = T & {
  metadata: ObjectMeta & { uid: string; resourceVersion: string };
};

/** An object to write. Kinds without a spec, such as ConfigMap, need none. */
export type Unstored<T extends KubeObject> = T | (undefined extends T["spec"] ? Omit<T, "spec"> : never);

/** A condition as the API conventions define it (`metav1.Condition`). */
export interface Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number | undefined;
}

/** The owner that controls the object, if any. */
export const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((owner) => owner.controller === true);

/** A controller reference to `owner`, for the `ownerReferences` of a child. */
export function controllerReference(owner: Stored): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  return {
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/**
 * Compares two resourceVersions as numbers, as the API server orders them (KEP-5504). Accepts decimal text of any
 * length: below zero if `a` is older, zero if equal, above zero if newer.
 */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A version of an object. */
export interface ObjectVersion {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The newest of several versions, any of which may be unknown. */
export const newestVersion = (versions: readonly (ObjectVersion | undefined)[]): ObjectVersion | undefined =>
  versions
    .filter((version) => version !== undefined)
    .sort((a, b) => compareVersions(a.resourceVersion, b.resourceVersion))
    .at(-1);

/** Whether a value can be a resourceVersion that {@link compareVersions} orders. */
export const isVersion = (text: unknown): text is string =>
  typeof text === "string" && /^(0|[1-9][0-9]*)$/.test(text);

/**
 * Whether a value can be the name of an object or namespace of any kind: a valid segment of a path
 * (`IsValidPathSegmentName` of k8s.io/apimachinery), in Unicode.
 */
export const isPathSegment = (text: unknown): text is string =>
  typeof text === "string" && /^(?!\.{1,2}$)[^/%]+$/u.test(text) && text.isWellFormed();

/** API group of an `apiVersion`; empty for the core group. */
export const groupOf = (apiVersion: string): string =>
  apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
