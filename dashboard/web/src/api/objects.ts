/** Reading and writing objects, as whoever is logged in. */
import type { KubeObject, Stored } from "../../../../bus/kube/object.ts";
import { type Place, pathOf, type Resource } from "./resource.ts";
import { request } from "./session.ts";

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

/** Deletes an object, and what belongs to it after it. */
export const remove = (resource: Resource, place: ObjectPlace): Promise<unknown> =>
  request(`${prefix}${pathOf(resource, place)}?propagationPolicy=Background`, { method: "DELETE" });
