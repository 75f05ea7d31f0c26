/** Writes of one reconcile: each conditional, none that changes nothing, none without ownership. */
import { isDeepStrictEqual } from "node:util";
import type { KubeClient, WriteOptions } from "../kube/client.ts";
import { withConditions } from "../kube/conditions.ts";
import { isAlreadyExists, isNotFound } from "../kube/errors.ts";
import { apiVersionOf, type Kind } from "../kube/kind.ts";
import {
  type Condition,
  controllerOf,
  controllerReference,
  type KubeObject,
  type Stored,
} from "../kube/object.ts";
import { BlockedError } from "./errors.ts";
import type { Context, NewChild } from "./function.ts";
import type { WritesOfKey } from "./ownwrites.ts";
import type { ReconcileReads } from "./reads.ts";

/** What the writes of a reconcile are made with. */
export interface WriteTools {
  readonly client: KubeClient;
  readonly reads: ReconcileReads;
  readonly own: WritesOfKey;
  readonly fieldManager: string;
  readonly traceparent: string | undefined;
  readonly signal: AbortSignal;
  /** Throws when this worker may not write any more. */
  assertOwned(): void;
  /** Called after each call that changed something. */
  onWrite(write: { verb: string; kind: Kind; name: string; uid: string; resourceVersion: string }): void;
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

/** Whether every value of `wanted` is in `found`: objects may have more, lists may not. */
function includes(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted))
    return isDeepStrictEqual(found, wanted);
  if (typeof found !== "object" || found === null) return false;
  return Object.entries(wanted).every(([name, value]) =>
    includes((found as Record<string, unknown>)[name], value),
  );
}

/** The writing half of a {@link Context} for the children and the status of `owner`. */
export function reconcileWrites(
  owner: Stored,
  tools: WriteTools,
): Pick<Context, "create" | "patch" | "apply" | "delete" | "status"> {
  const { client, reads, own, fieldManager, traceparent, signal } = tools;
  const options: WriteOptions = { fieldManager, traceparent, signal };

  function written<T extends KubeObject>(verb: string, kind: Kind<T>, object: Stored<T>): Stored<T> {
    const { uid, resourceVersion, name } = object.metadata;
    own.record(object);
    reads.note(uid, resourceVersion);
    tools.onWrite({ verb, kind, name, uid, resourceVersion });
    return object;
  }

  const isOurs = (object: Stored): boolean => controllerOf(object)?.uid === owner.metadata.uid;

  const complete = <T extends KubeObject>(kind: Kind<T>, child: NewChild<T>): T =>
    ({
      ...child,
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        ...child.metadata,
        ...(owner.metadata.namespace !== undefined && { namespace: owner.metadata.namespace }),
        ownerReferences: [controllerReference(owner)],
      },
    }) as unknown as T;

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
          reads.note(found.metadata.uid, found.metadata.resourceVersion);
          return found;
        }
        throw new BlockedError(
          "NameTaken",
          `expected to create the ${kind.kind} ${object.metadata.name}, found one of that name that ${
            controllerOf(found)
              ? `${controllerOf(found)?.kind} ${controllerOf(found)?.name} (uid ${controllerOf(found)?.uid}) controls`
              : "nobody controls"
          }. Delete or rename it; it is never overwritten.`,
          undefined,
          { cause: error },
        );
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
      );
    },
    async apply(kind, child) {
      const object = complete(kind, child);
      const found = await reads.get(kind, {
        namespace: object.metadata.namespace ?? "",
        name: object.metadata.name,
      });
      if (found && isOurs(found) && includes(found, object)) return found;
      if (found && !isOurs(found)) {
        throw new BlockedError(
          "NameTaken",
          `expected to apply the ${kind.kind} ${object.metadata.name}, found one that this object does not control. Delete or rename it.`,
        );
      }
      tools.assertOwned();
      return written(
        "apply",
        kind,
        await client.apply(kind, object, { ...options, force: "take-ownership" }),
      );
    },
    async delete(kind, object) {
      tools.assertOwned();
      try {
        await client.delete(kind, at(object), { uid: object.metadata.uid, traceparent, signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      // With finalizers the object stays until their owners are done, and its events tell.
      if (!object.metadata.finalizers?.length) own.record(object, "deleted");
      const { name, uid, resourceVersion } = object.metadata;
      tools.onWrite({ verb: "delete", kind, name, uid, resourceVersion });
    },
    async status(kind, object, status, conditions) {
      const before = (object.status ?? {}) as Record<string, unknown>;
      const { generation } = object.metadata;
      const wanted: Record<string, unknown> = { ...status };
      if (conditions) {
        wanted.observedGeneration = generation;
        wanted.conditions = withConditions(before.conditions as Condition[] | undefined, conditions, {
          generation,
          now: new Date(),
        });
      }
      if (isDeepStrictEqual(mergePatched(before, wanted), before)) return object;
      tools.assertOwned();
      const patch = { metadata: { resourceVersion: object.metadata.resourceVersion }, status: wanted };
      return written(
        "status",
        kind,
        await client.mergePatch(kind, at(object), patch, { ...options, subresource: "status" }),
      );
    },
  };
}
