/** Reads and writes Kubernetes objects as the logged-in user. */
import type { KubeObject, Stored } from "denrei/kinds";
import { pathOf, type Resource, type Scope } from "./resource.ts";
import { RequestError, request } from "./session.ts";
import { text } from "./text.ts";

const prefix = "/api/kubernetes";
const mergePatch = "application/merge-patch+json";

/** The name of an object. */
export interface ObjectKey {
  /** Undefined for cluster-scoped kinds. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** The name and namespace of an object. */
export const objectKeyOf = ({ metadata: { namespace, name } }: KubeObject): ObjectKey => ({
  namespace,
  name,
});

/** Lists objects once. */
export async function listOf<T extends KubeObject>(
  resource: Resource<T>,
  scope: Scope = {},
): Promise<readonly Stored<T>[]> {
  return (await request<{ items: Stored<T>[] }>(prefix + pathOf(resource, scope))).items;
}

/** Reads an object. */
export const get = <T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<Stored<T>> =>
  request(prefix + pathOf(resource, key));

/** Creates an object. With `dryRun`, the API server only validates it. */
export const create = <T extends KubeObject>(
  resource: Resource<T>,
  object: T,
  dryRun?: "All",
): Promise<Stored<T>> =>
  request(
    `${prefix}${pathOf(resource, { namespace: object.metadata.namespace })}?fieldValidation=Strict${dryRun ? "&dryRun=All" : ""}`,
    { method: "POST", body: object },
  );

/** Applies a merge patch (RFC 7386). With `metadata.resourceVersion` in it, a concurrent change makes it fail with a conflict. */
export const patch = <T extends KubeObject>(
  resource: Resource<T>,
  key: ObjectKey & Pick<Scope, "subresource">,
  change: object,
): Promise<Stored<T>> =>
  request(`${prefix}${pathOf(resource, key)}?fieldValidation=Strict`, {
    method: "PATCH",
    body: change,
    contentType: mergePatch,
  });

/** Status writes conflict with the patch often, so several tries are needed. */
const maxTries = 5;

/**
 * Patches the newest version of an object with a change that follows from it, and tries again after a concurrent change. Returns
 * the newest version if there is nothing to change.
 */
export async function patchNewest<T extends KubeObject>(
  resource: Resource<T>,
  key: ObjectKey,
  changeOf: (newest: Stored<T>) => object | undefined,
): Promise<Stored<T>> {
  for (let tries = 1; ; tries++) {
    const newest = await get(resource, key);
    const change = changeOf(newest);
    if (change === undefined) return newest;
    try {
      const { resourceVersion } = newest.metadata;
      return await patch(resource, key, { ...change, metadata: { resourceVersion } });
    } catch (error) {
      if (!(error instanceof RequestError) || error.status !== 409 || tries === maxTries) throw error;
    }
  }
}

/**
 * Patches an object whose specification has not changed since `read`; status changes do not matter. Throws a {@link RequestError}
 * with the reason `Changed` if the specification changed.
 */
export const patchUnchanged = <T extends KubeObject>(
  resource: Resource<T>,
  read: Stored<T>,
  change: object,
): Promise<Stored<T>> =>
  patchNewest(resource, objectKeyOf(read), ({ metadata }) => {
    if (metadata.uid !== read.metadata.uid || metadata.generation !== read.metadata.generation)
      throw new RequestError(409, "Changed", text.changed);
    return change;
  });

/** Deletes an object; its dependents follow in the background. */
export const remove = (resource: Resource, key: ObjectKey): Promise<unknown> =>
  request(`${prefix}${pathOf(resource, key)}?propagationPolicy=Background`, { method: "DELETE" });
