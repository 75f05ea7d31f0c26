/** Writes of one reconcile. Each is conditional, requires ownership, and is skipped if it would change nothing. */
import { isDeepStrictEqual } from "node:util";
import type { WriteVerb } from "../activity/record.ts";
import type { KubeClient, WriteOptions } from "../kube/client.ts";
import { isMarkedBy, isOutside, ownerMarks } from "../kube/clusterchild.ts";
import { type ConditionUpdate, withConditions } from "../kube/conditions.ts";
import { domain } from "../kube/domain.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../kube/errors.ts";
import { apiVersionOf, type Kind } from "../kube/kind.ts";
import { matchesDesired } from "../kube/matchesdesired.ts";
import {
  type Condition,
  controllerOf,
  controllerReference,
  type KubeObject,
  type Stored,
} from "../kube/object.ts";
import type { ObjectKey } from "../subjects.ts";
import { digestOf } from "../values/digest.ts";
import { redactedValue } from "../values/redact.ts";
import type { NewChild, StatusFields } from "./arguments.ts";
import { BlockedError } from "./errors.ts";
import type { Context } from "./function.ts";
import type { WritesOfKey } from "./ownwrites.ts";
import type { ReportedReady } from "./platformconditions.ts";
import type { ReconcileReads } from "./reads.ts";
import { namespaceOfChild } from "./scope.ts";

/** Dependencies of the writes of one reconcile. */
export interface WriteTools {
  readonly client: KubeClient;
  readonly reads: ReconcileReads;
  readonly own: WritesOfKey;
  /** The name of the function. */
  readonly fn: string;
  /** Another function reports the object's status: this one must not set `observedGeneration`. */
  readonly secondary?: boolean | undefined;
  readonly fieldManager: string;
  readonly traceparent: string | undefined;
  readonly signal: AbortSignal;
  /** Holds `Ready` back while the object is stalled. Undefined where the platform maintains no conditions. */
  readonly ready?: ReportedReady | undefined;
  /** The time by the clock of the bus: milliseconds since the epoch. */
  now(): number;
  /** Throws when this worker must not write any more. */
  assertOwned(): void;
  /** Called after each call that changed something. */
  onWrite(write: Write): void;
}

/** A write that the API server has confirmed. */
export interface Write extends ObjectKey {
  readonly verb: WriteVerb;
  readonly kind: Kind;
  readonly uid: string;
  readonly resourceVersion: string;
  /** `trigger`: the write replaced a change that was not reconciled yet, so its event must enqueue the key. */
  readonly event: "echo" | "trigger";
}

/** JSON merge patch (RFC 7386) on plain JSON values. Skips undefined values, which JSON cannot express. */
export function mergePatched(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const out: Record<string, unknown> =
    typeof target === "object" && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete out[name];
    else if (value !== undefined) out[name] = mergePatched(out[name], value);
  }
  return out;
}

/** Annotation on applied objects: a digest of the desired state. Only this shows that a field is no longer desired. */
export const appliedAnnotation = (fn: string): string => `applied.${domain}/${fn}`;

/** Makes an apply conditional on the uid and version that were found. */
function withPrecondition<T extends KubeObject>(found: Stored<T> | undefined, desired: T): T {
  if (found === undefined) return desired;
  const { uid, resourceVersion } = found.metadata;
  return { ...desired, metadata: { ...desired.metadata, uid, resourceVersion } };
}

/** After this many conflicts the apply fails, and the next attempt reads the object again. */
const maxConflicts = 3;

/** The writing half of a {@link Context}. */
export type Writes = Pick<Context, "create" | "patch" | "apply" | "applyFields" | "delete" | "status">;

/** Opens the writes of children and of the status of `owner`. */
export function reconcileWrites(owner: Stored, tools: WriteTools): Writes {
  const writer = new Writer(owner, tools);
  return {
    create: (kind, child) => writer.create(kind, child),
    patch: (kind, object, patch) => writer.patch(kind, object, patch),
    apply: (kind, child, options) => writer.apply(kind, child, options),
    applyFields: (kind, object, fields) => writer.applyFields(kind, object, fields),
    delete: (kind, object, options) => writer.delete(kind, object, options),
    status: (kind, object, status, conditions) => writer.status(kind, object, status, conditions),
  };
}

class Writer implements Writes {
  readonly #owner: Stored;
  readonly #tools: WriteTools;
  readonly #options: WriteOptions;

  constructor(owner: Stored, tools: WriteTools) {
    const { fieldManager, traceparent, signal } = tools;
    this.#owner = owner;
    this.#tools = tools;
    this.#options = { fieldManager, traceparent, signal };
  }

  async create<T extends KubeObject>(kind: Kind<T>, child: NewChild<T>): Promise<Stored<T>> {
    const { client, own, reads, signal } = this.#tools;
    const object = this.#complete(kind, child);
    this.#tools.assertOwned();
    try {
      return this.#written("create", kind, await client.create(kind, object, this.#options));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const found = await client.get(kind, object.metadata, signal);
      if (this.#isOurs(found)) {
        own.record(found);
        reads.foundLate(found.metadata.uid);
        return found;
      }
      throw nameTaken(kind, found, { cause: error });
    }
  }

  async patch<T extends KubeObject>(kind: Kind<T>, object: Stored<T>, patch: object): Promise<Stored<T>> {
    if (isDeepStrictEqual(mergePatched(object, patch), object)) return object;
    this.#tools.assertOwned();
    const { resourceVersion } = object.metadata;
    const conditional = mergePatched(patch, { metadata: { resourceVersion } }) as object;
    const patched = await this.#tools.client.mergePatch(kind, at(object), conditional, this.#options);
    return this.#written("patch", kind, patched, resourceVersion);
  }

  async apply<T extends KubeObject>(
    kind: Kind<T>,
    child: NewChild<T>,
    { uid }: { readonly uid?: string | undefined } = {},
  ): Promise<Stored<T>> {
    const { reads, fn } = this.#tools;
    const object = this.#complete(kind, child, { [appliedAnnotation(fn)]: digestOf(child, 16) });
    const key = { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
    // An object that is not on the bus may still exist, and the content of some kinds is never on the bus.
    const found =
      (kind.publish === "object" ? await reads.get(kind, key) : undefined) ?? (await reads.live(kind, key));
    // A child whose owner reference was removed has no other controller, so it can be adopted.
    const isLost = found && found.metadata.uid === uid && controllerOf(found) === undefined;
    if (found && !this.#isOurs(found) && !isLost) throw nameTaken(kind, found);
    return this.#applyDesired(kind, found, object);
  }

  async applyFields<T extends KubeObject>(
    kind: Kind<T>,
    object: Stored<T>,
    fields: object,
  ): Promise<Stored<T>> {
    const { uid, name, namespace } = object.metadata;
    const desired = mergePatched(fields, {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      // The uid prevents creating the object if it no longer exists or was recreated.
      metadata: {
        uid,
        name,
        ...(namespace !== undefined && { namespace }),
        annotations: { [appliedAnnotation(this.#tools.fn)]: digestOf(fields, 16) },
      },
    });
    return this.#applyDesired(kind, object, desired as typeof object);
  }

  async delete(
    kind: Kind,
    object: Stored,
    { propagation }: { readonly propagation?: "Foreground" } = {},
  ): Promise<void> {
    const { client, own, traceparent, signal } = this.#tools;
    this.#tools.assertOwned();
    const { namespace = "", name, uid, resourceVersion, finalizers } = object.metadata;
    try {
      await client.delete(kind, at(object), {
        uid,
        traceparent,
        signal,
        ...(propagation && { propagation }),
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    // With finalizers the object remains for now; its events report the deletion.
    if (!finalizers?.length && propagation !== "Foreground") own.record(object, "deleted");
    this.#tools.onWrite({ verb: "delete", kind, namespace, name, uid, resourceVersion, event: "echo" });
  }

  async status<T extends KubeObject>(
    kind: Kind<T>,
    object: Stored<T>,
    given: StatusFields<T>,
    givenConditions?: readonly ConditionUpdate[],
  ): Promise<Stored<T>> {
    const before = (object.status ?? {}) as Record<string, unknown>;
    const { generation, resourceVersion } = object.metadata;
    // Text from elsewhere (a log, an error) may contain credentials, and many users can read a status.
    const { status, conditions } = redactedValue({ status: given, conditions: givenConditions });
    const desired: Record<string, unknown> = { ...status };
    if (conditions) {
      if (!this.#tools.secondary) desired.observedGeneration = generation;
      const current = before.conditions as Condition[] | undefined;
      const isOwn = object.metadata.uid === this.#owner.metadata.uid;
      const updates = isOwn ? (this.#tools.ready?.now(current, conditions) ?? conditions) : conditions;
      desired.conditions = withConditions(current, updates, {
        generation,
        now: new Date(this.#tools.now()),
      });
    }
    if (isDeepStrictEqual(mergePatched(before, desired), before)) return object;
    this.#tools.assertOwned();
    const patch = { metadata: { resourceVersion }, status: desired };
    const options = { ...this.#options, subresource: "status" } as const;
    const patched = await this.#tools.client.mergePatch(kind, at(object), patch, options);
    return this.#written("status", kind, patched, resourceVersion);
  }

  /** Records a write; `over` is the version that the API server checked the write against. */
  #written<T extends KubeObject>(
    verb: WriteVerb,
    kind: Kind<T>,
    object: Stored<T>,
    over?: string,
  ): Stored<T> {
    const { own, reads } = this.#tools;
    const { uid, resourceVersion, namespace = "", name } = object.metadata;
    own.record(object);
    const event = reads.wrote(uid, resourceVersion, over) === "seen" ? "echo" : "trigger";
    this.#tools.onWrite({ verb, kind, namespace, name, uid, resourceVersion, event });
    return object;
  }

  #isOurs(object: Stored): boolean {
    return controllerOf(object)?.uid === this.#owner.metadata.uid || isMarkedBy(object, this.#owner);
  }

  /** The complete child: with its type, namespace, and the reference or marks of its owner. */
  #complete<T extends KubeObject>(
    kind: Kind<T>,
    child: NewChild<T>,
    annotations: Readonly<Record<string, string>> = {},
  ): T {
    const owner = this.#owner;
    const { namespace: _given, ...metadata } = child.metadata;
    const namespace = namespaceOfChild(kind, child.metadata, owner);
    const outside = isOutside(kind, owner);
    const marks = outside ? ownerMarks(owner) : { labels: {}, annotations: {} };
    const labels = unlessEmpty({ ...child.metadata.labels, ...marks.labels });
    const allAnnotations = unlessEmpty({
      ...child.metadata.annotations,
      ...annotations,
      ...marks.annotations,
    });
    return {
      ...child,
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        ...metadata,
        ...(labels && { labels }),
        ...(allAnnotations && { annotations: allAnnotations }),
        ...(namespace !== undefined && { namespace }),
        ...(!outside && { ownerReferences: [controllerReference(owner)] }),
      },
    } as unknown as T;
  }

  /**
   * Applies the desired state on condition that the object still has the found version. After a conflict it uses the newer
   * version, and the event of the write enqueues the key. No call if the object already matches, or is the result of applying the
   * same state.
   */
  async #applyDesired<T extends KubeObject>(
    kind: Kind<T>,
    found: Stored<T> | undefined,
    desired: T,
  ): Promise<Stored<T>> {
    const { client, own, reads } = this.#tools;
    const digest = digestOf(desired);
    const options = { ...this.#options, force: "take-ownership" } as const;
    let over = found;
    for (let conflicts = 0; ; conflicts++) {
      if (over && (matchesDesired(over, desired) || own.isOutcome(over, digest))) return over;
      this.#tools.assertOwned();
      try {
        const object = await client.apply(kind, withPrecondition(over, desired), options);
        own.recordOutcome(object, digest);
        if (object.metadata.resourceVersion === over?.metadata.resourceVersion) return object;
        return this.#written("apply", kind, object, over?.metadata.resourceVersion);
      } catch (error) {
        if (!isConflict(error) || over === undefined || conflicts >= maxConflicts) throw error;
        const newer: Stored<T> | undefined = await reads.live(kind, { namespace: "", ...over.metadata });
        if (newer?.metadata.uid !== over.metadata.uid) throw error;
        over = newer;
      }
    }
  }
}

const at = ({ metadata: { namespace, name } }: Stored) => ({ namespace, name });

const unlessEmpty = <V>(values: Record<string, V>): Record<string, V> | undefined =>
  Object.keys(values).length > 0 ? values : undefined;

/** The error for an existing object of that name that this object does not control. */
function nameTaken(kind: Kind, found: Stored, options?: ErrorOptions): BlockedError {
  const controller = controllerOf(found);
  const owner = controller
    ? `is controlled by ${controller.kind} ${controller.name} (uid ${controller.uid})`
    : "has no controller";
  return new BlockedError(
    "NameTaken",
    `${kind.kind} ${found.metadata.name} already exists and ${owner}. Delete or rename it; it is never overwritten.`,
    undefined,
    options,
  );
}
