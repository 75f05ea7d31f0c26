/** Reading and writing objects, as whoever is logged in. */
import type { KubeObject, Stored } from "../../../../bus/kube/object.ts";
import { type Place, pathOf, type Resource } from "./resource.ts";
import { RequestError, request } from "./session.ts";

const prefix = "/api/kubernetes";
const mergePatch = "application/merge-patch+json";

/** An object that is there. */
export interface ObjectPlace {
  /** Missing where the kind is of the cluster. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Where an object is. */
export const placeOf = ({ metadata: { namespace, name } }: KubeObject): ObjectPlace => ({ namespace, name });

/** Lists objects once. */
export async function listOf<T extends KubeObject>(
  resource: Resource<T>,
  place: Place = {},
): Promise<readonly Stored<T>[]> {
  return (await request<{ items: Stored<T>[] }>(prefix + pathOf(resource, place))).items;
}

/** Reads an object. */
export const get = <T extends KubeObject>(resource: Resource<T>, place: ObjectPlace): Promise<Stored<T>> =>
  request(prefix + pathOf(resource, place));

/** Creates an object; with `dryRun` the API server says what it would say, and nothing is created. */
export const create = <T extends KubeObject>(
  resource: Resource<T>,
  object: T,
  dryRun?: "All",
): Promise<Stored<T>> =>
  request(
    `${prefix}${pathOf(resource, { namespace: object.metadata.namespace })}?fieldValidation=Strict${dryRun ? "&dryRun=All" : ""}`,
    { method: "POST", body: object },
  );

/**
 * Changes what is in the patch (RFC 7386: `null` takes a field away). With `metadata.resourceVersion` in it, it is refused when
 * somebody else has changed the object meanwhile.
 */
export const patch = <T extends KubeObject>(
  resource: Resource<T>,
  place: ObjectPlace & Pick<Place, "subresource">,
  change: object,
): Promise<Stored<T>> =>
  request(`${prefix}${pathOf(resource, place)}?fieldValidation=Strict`, {
    method: "PATCH",
    body: change,
    contentType: mergePatch,
  });

/** A status is written all the time: so often somebody else may come between. */
const maxTries = 5;

/**
 * Changes an object that nobody has specified otherwise since it was read, whatever became of its status. Throws a
 * {@link RequestError} with the reason `Changed` when somebody has.
 */
export async function patchUnchanged<T extends KubeObject>(
  resource: Resource<T>,
  read: Stored<T>,
  change: object,
): Promise<Stored<T>> {
  for (let tries = 1; ; tries++) {
    const { metadata } = await get(resource, placeOf(read));
    if (metadata.uid !== read.metadata.uid || metadata.generation !== read.metadata.generation)
      throw new RequestError(
        409,
        "Changed",
        "Somebody has changed it since you began. Begin anew with what is there now.",
      );
    try {
      const { resourceVersion } = metadata;
      return await patch(resource, placeOf(read), { ...change, metadata: { resourceVersion } });
    } catch (error) {
      if (!(error instanceof RequestError) || error.status !== 409 || tries === maxTries) throw error;
    }
  }
}

/** Deletes an object, and what belongs to it after it. */
export const remove = (resource: Resource, place: ObjectPlace): Promise<unknown> =>
  request(`${prefix}${pathOf(resource, place)}?propagationPolicy=Background`, { method: "DELETE" });
