/**
 * Admission hooks of a kind: functions that the API server calls, through a webhook, before it stores an object.
 * https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
 */
import type { LabelSelector } from "./labelselector.ts";
import type { KubeObject } from "./object.ts";

/** The user of a request: a person, or the service account of a function. */
export interface RequestUser {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** The part of a request that all hooks receive. */
export interface RequestDetails {
  readonly user: RequestUser;
  /** Whether the API server will not store the result. */
  readonly dryRun: boolean;
}

/**
 * A request to create or update an object. Objects are in the stored version of their kind, whatever version the client uses.
 * Before its creation, an object has neither a `uid` nor, with `generateName`, a name.
 */
export interface AdmissionRequest<T extends KubeObject = KubeObject> extends RequestDetails {
  readonly operation: "CREATE" | "UPDATE";
  /** Matches the schema of the kind. */
  readonly object: T;
  /** The stored object; undefined on creation. It may be older than a rule of the schema. */
  readonly oldObject: T | undefined;
}

/** A request to delete an object. */
export interface DeletionRequest<T extends KubeObject = KubeObject> extends RequestDetails {
  readonly operation: "DELETE";
  /** The stored object. It may be older than a rule of the schema. */
  readonly object: T;
}

/** What is wrong with a field. */
export interface FieldError {
  /** Path of the field: `spec.items[0].count`. */
  readonly field: string;
  readonly message: string;
}

/** The result of a validation. Without errors, the request is allowed. */
export interface ValidationResult {
  /** Reasons to deny the request. The client gets all of them. */
  readonly errors?: readonly FieldError[];
  /** Texts that clients such as kubectl show, whether the request is allowed or not. */
  readonly warnings?: readonly string[];
}

/**
 * Admission hooks of a kind. Hooks are pure and synchronous: while they run, the client waits, and so do all other requests for the
 * same process. Writes to the status and other subresources, and all writes to objects that are being deleted, pass without them.
 */
export interface AdmissionOptions<T extends KubeObject = KubeObject> {
  /**
   * Returns the changed object; nothing leaves it unchanged. It may change the spec, and the labels, annotations, finalizers, and
   * ownerReferences of the metadata. It has to be idempotent, because the API server may call it again with its own result. It
   * gets only objects that match the schema: fields that it fills in are optional there.
   */
  mutate?(request: AdmissionRequest<T>): T | undefined;
  /** Returns errors to deny the request; nothing allows it. It gets the object after all mutations. */
  validate?(request: AdmissionRequest<T>): ValidationResult | undefined;
  /** Returns errors to deny a deletion, also one by garbage collection or by the deletion of a namespace. */
  validateDelete?(request: DeletionRequest<T>): ValidationResult | undefined;
  /**
   * Which updates the hooks get: those that change the spec, or all of them. Default: `spec`, so that functions can set finalizers
   * and annotations on objects that an older rule has allowed.
   */
  readonly updates?: "spec" | "all";
  /**
   * What the API server does if the process does not answer. Default: `Fail`, which rejects the request, as functions would
   * otherwise get objects that no hook has checked.
   */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** How long the API server waits for an answer: 1 to 30. Seconds; default 5. */
  readonly timeoutSeconds?: number;
  /** Selects namespaces by their labels. Default: all, except kube-system and the platform's own, which are always exempt. */
  readonly namespaceSelector?: LabelSelector;
  /** Selects objects by their labels. Clients decide about labels, so they can avoid hooks with this. */
  readonly objectSelector?: LabelSelector;
}

/** Admission hooks with their defaults filled in. */
export interface AdmissionHooks
  extends Pick<
      AdmissionOptions,
      "mutate" | "validate" | "validateDelete" | "namespaceSelector" | "objectSelector"
    >,
    Required<Pick<AdmissionOptions, "updates" | "failurePolicy" | "timeoutSeconds">> {}

const hookNames = ["mutate", "validate", "validateDelete"] as const;

/** Fills in the defaults. Throws a `TypeError`, in which `subject` names the kind. */
export function admissionHooks(
  options: AdmissionOptions | undefined,
  subject: string,
): AdmissionHooks | undefined {
  if (options === undefined) return undefined;
  const { timeoutSeconds = 5 } = options;
  if (hookNames.every((name) => options[name] === undefined))
    throw new TypeError(`expected at least one of ${hookNames.join(", ")} in the admission of ${subject}`);
  if (!Number.isInteger(timeoutSeconds) || timeoutSeconds < 1 || timeoutSeconds > 30)
    throw new TypeError(
      `expected the timeoutSeconds in the admission of ${subject} to be an integer from 1 to 30, found ${timeoutSeconds}`,
    );
  return { updates: "spec", failurePolicy: "Fail", ...options, timeoutSeconds };
}

/** The paths at which the webhook mutates and validates objects. */
export const admissionPaths = { mutate: "/mutate", validate: "/validate" } as const;
