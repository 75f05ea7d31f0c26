/** Writes of one reconcile. Each is conditional, requires ownership, and is skipped if it would change nothing. */
import { isDeepStrictEqual } from "node:util";
import type { WriteVerb } from "../activity/record.ts";
import type { KubeClient, WriteOptions } from "../kube/client.ts";
import { isMarkedBy, isOutside, ownerMarks } from "../kube/clusterchild.ts";
import { withConditions } from "../kube/conditions.ts";
import { domain } from "../kube/domain.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../kube/errors.ts";
import { apiVersionOf, type Kind } from "../kube/kind.ts";
import { covers } from "../kube/matchesdesired.ts";
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
import { BlockedError } from "./errors.ts";
import type { Context, NewChild } from "./function.ts";
import type { WritesOfKey } from "./ownwrites.ts";
import type { ReconcileReads } from "./reads.ts";

/** Dependencies of the writes of one reconcile. */
export interface WriteTools {
  readonly client: KubeClient;
  readonly reads: ReconcileReads;
  readonly own: WritesOfKey;
  /** The name of the function. */
  readonly fn: string;
  /** Another function reports the object's status: this one must not set `observedGeneration`. */
  readonly secondary?: true | undefined;
  readonly fieldManager: string;
  readonly traceparent: string | undefined;
  readonly signal: AbortSignal;
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
  /** `news`: the write replaced a change that was not reconciled yet, so its event must enqueue the key. */
  readonly event: "echo" | "news";
}

/** JSON merge patch (RFC 7386) on plain JSON values. */
export function mergePatched(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const out: Record<string, unknown> =
    typeof target === "object" && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete out[name];
    else out[name] = mergePatched(out[name], value);
  }
  return out;
}

/** Annotation on applied objects: a digest of the desired state. Only this shows that a field is no longer desired. */
export const appliedAnnotation = (fn: string): string => `applied.${domain}/${fn}`;

/** Makes an apply conditional on the uid and version that were found. */
function withPrecondition<T extends KubeObject>(found: Stored<T> | undefined, wanted: T): T {
  if (found === undefined) return wanted;
  const { uid, resourceVersion } = found.metadata;
  return { ...wanted, metadata: { ...wanted.metadata, uid, resourceVersion } };
}

/** After this many conflicts the object is left to the next attempt. */
const maxConflicts = 3;

/** The writing half of a {@link Context} for the children and the status of `owner`. */
export function reconcileWrites(
  owner: Stored,
  tools: WriteTools,
): Pick<Context, "create" | "patch" | "apply" | "applyFields" | "delete" | "status"> {
  const { client, reads, own, fn, fieldManager, traceparent, signal } = tools;
  const options: WriteOptions = { fieldManager, traceparent, signal };

  /** Records a write; `over` is the version that the API server checked the write against. */
  function written<T extends KubeObject>(
    verb: WriteVerb,
    kind: Kind<T>,
    object: Stored<T>,
    over?: string,
  ): Stored<T> {
    const { uid, resourceVersion, namespace = "", name } = object.metadata;
    own.record(object);
    const event = reads.wrote(uid, resourceVersion, over) === "seen" ? "echo" : "news";
    tools.onWrite({ verb, kind, namespace, name, uid, resourceVersion, event });
    return object;
  }

  const isOurs = (object: Stored): boolean =>
    controllerOf(object)?.uid === owner.metadata.uid || isMarkedBy(object, owner);

  function complete<T extends KubeObject>(
    kind: Kind<T>,
    child: NewChild<T>,
    annotations: Readonly<Record<string, string>> = {},
  ): T {
    const outside = isOutside(kind, owner);
    const marks = outside ? ownerMarks(owner) : { labels: {}, annotations: {} };
    const together = <V>(values: Record<string, V>) => (Object.keys(values).length > 0 ? values : undefined);
    const labels = together({ ...child.metadata.labels, ...marks.labels });
    const allAnnotations = together({ ...child.metadata.annotations, ...annotations, ...marks.annotations });
    return {
      ...child,
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        ...child.metadata,
        ...(labels && { labels }),
        ...(allAnnotations && { annotations: allAnnotations }),
        ...(!outside && {
          ...(owner.metadata.namespace !== undefined && { namespace: owner.metadata.namespace }),
          ownerReferences: [controllerReference(owner)],
        }),
      },
    } as unknown as T;
  }

  /**
   * Applies the desired state on condition that the object still has the found version. After a conflict it uses the newer
   * version, and the event of the write is news. No call if the object already matches, or results from applying the same state.
   */
  async function applyDesired<T extends KubeObject>(
    kind: Kind<T>,
    found: Stored<T> | undefined,
    wanted: T,
  ): Promise<Stored<T>> {
    const digest = digestOf(wanted);
    let over = found;
    for (let conflicts = 0; ; conflicts++) {
      if (over && (covers(over, wanted) || own.isOutcome(over, digest))) return over;
      tools.assertOwned();
      try {
        const object = await client.apply(kind, withPrecondition(over, wanted), {
          ...options,
          force: "take-ownership",
        });
        own.recordOutcome(object, digest);
        if (object.metadata.resourceVersion === over?.metadata.resourceVersion) return object;
        return written("apply", kind, object, over?.metadata.resourceVersion);
      } catch (error) {
        if (!isConflict(error) || over === undefined || conflicts >= maxConflicts) throw error;
        const newer: Stored<T> | undefined = await reads.live(kind, { namespace: "", ...over.metadata });
        if (newer?.metadata.uid !== over.metadata.uid) throw error;
        over = newer;
      }
    }
  }

  const at = (object: Stored) => ({ namespace: object.metadata.namespace, name: object.metadata.name });

  return {
    async create(kind, child) {
      const object = complete(kind, child);
      tools.assertOwned();
      try {
        return written("create", kind, await client.create(kind, object, options));
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        const found = await client.get(kind, object.metadata, signal);
        if (isOurs(found)) {
          own.record(found);
          reads.foundLate(found.metadata.uid);
          return found;
        }
        throw nameTaken(kind, found, { cause: error });
      }
    },
    async patch(kind, object, patch) {
      if (isDeepStrictEqual(mergePatched(object, patch), object)) return object;
      tools.assertOwned();
      const conditional = mergePatched(patch, {
        metadata: { resourceVersion: object.metadata.resourceVersion },
      });
      return written(
        "patch",
        kind,
        await client.mergePatch(kind, at(object), conditional as object, options),
        object.metadata.resourceVersion,
      );
    },
    async apply(kind, child, { uid } = {}) {
      const object = complete(kind, child, { [appliedAnnotation(fn)]: digestOf(child, 16) });
      const key = { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
      // An object that is not on the bus may still exist, and the content of some kinds is never on the bus.
      const found =
        (kind.publish === "object" ? await reads.get(kind, key) : undefined) ?? (await reads.live(kind, key));
      // A child whose owner reference was removed has no other controller, so it can be adopted.
      const isLost = found && found.metadata.uid === uid && controllerOf(found) === undefined;
      if (found && !isOurs(found) && !isLost) throw nameTaken(kind, found);
      return applyDesired(kind, found, object);
    },
    async applyFields(kind, object, fields) {
      const { uid, name, namespace } = object.metadata;
      const wanted = mergePatched(fields, {
        apiVersion: apiVersionOf(kind),
        kind: kind.kind,
        // The uid prevents creating the object if it no longer exists or was recreated.
        metadata: {
          uid,
          name,
          ...(namespace !== undefined && { namespace }),
          annotations: { [appliedAnnotation(fn)]: digestOf(fields, 16) },
        },
      });
      return applyDesired(kind, object, wanted as typeof object);
    },
    async delete(kind, object, { propagation } = {}) {
      tools.assertOwned();
      const { uid: precondition } = object.metadata;
      try {
        await client.delete(kind, at(object), {
          uid: precondition,
          traceparent,
          signal,
          ...(propagation && { propagation }),
        });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      // With finalizers the object remains for now; its events report the deletion.
      if (!object.metadata.finalizers?.length && propagation !== "Foreground") own.record(object, "deleted");
      const { namespace = "", name, uid, resourceVersion } = object.metadata;
      tools.onWrite({ verb: "delete", kind, namespace, name, uid, resourceVersion, event: "echo" });
    },
    async status(kind, object, given, givenConditions) {
      const before = (object.status ?? {}) as Record<string, unknown>;
      const { generation } = object.metadata;
      // Text from elsewhere (a log, an error) may contain credentials, and many users can read a status.
      const { status, conditions } = redactedValue({ status: given, conditions: givenConditions });
      const wanted: Record<string, unknown> = { ...status };
      if (conditions) {
        if (!tools.secondary) wanted.observedGeneration = generation;
        wanted.conditions = withConditions(before.conditions as Condition[] | undefined, conditions, {
          generation,
          now: new Date(tools.now()),
        });
      }
      if (isDeepStrictEqual(mergePatched(before, wanted), before)) return object;
      tools.assertOwned();
      const patch = { metadata: { resourceVersion: object.metadata.resourceVersion }, status: wanted };
      return written(
        "status",
        kind,
        await client.mergePatch(kind, at(object), patch, { ...options, subresource: "status" }),
        object.metadata.resourceVersion,
      );
    },
  };
}

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
