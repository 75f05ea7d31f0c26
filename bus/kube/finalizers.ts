/** Finds and removes finalizers of objects of any kind. */
import { type KubeClient, metadataOnly, type ObjectName } from "./client.ts";
import { isConflict, isForbidden, isNotFound } from "./errors.ts";
import { externalKind, type Kind, kindText } from "./kind.ts";
import type { KubeObject, Stored } from "./object.ts";

/** An object with a finalizer. */
export interface FinalizedObject {
  readonly kind: Kind;
  readonly object: Stored<KubeObject>;
}

/** Objects with a finalizer, and kinds that the user may not list. */
export interface FinalizedObjects {
  readonly found: readonly FinalizedObject[];
  readonly unseen: readonly string[];
}

/** `APIGroupDiscoveryList` (https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery). */
interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly kind: string };
        readonly scope: "Namespaced" | "Cluster";
        readonly verbs: readonly string[];
      }[];
    }[];
  }[];
}

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const pageSize = 500;

/** Every kind whose objects can be listed and patched, in its preferred version. */
async function patchableKinds(client: KubeClient): Promise<Kind[]> {
  const found = new Map<string, Kind>();
  for (const path of ["/api", "/apis"]) {
    const { items } = await client.request<Discovery>({ method: "GET", path, accept: aggregated });
    for (const { metadata, versions } of items)
      for (const { version, resources = [] } of versions)
        for (const { resource, responseKind, scope, verbs } of resources) {
          const group = metadata.name ?? "";
          const name = `${resource}.${group}`;
          if (found.has(name) || !verbs.includes("list") || !verbs.includes("patch")) continue;
          const kind = responseKind?.kind ?? resource;
          // Reach only matters for bridges; here RBAC decides.
          found.set(name, externalKind({ group, version, kind, plural: resource, scope }));
        }
  }
  return [...found.values()];
}

/** Finds the objects with the finalizer, of all kinds and in all namespaces. Reads only metadata. */
export async function objectsWithFinalizer(client: KubeClient, finalizer: string): Promise<FinalizedObjects> {
  const found: FinalizedObject[] = [];
  const unseen: string[] = [];
  for (const kind of await patchableKinds(client))
    try {
      let next: string | undefined;
      do {
        const query = { limit: pageSize, continue: next };
        const page = await client.list(kind, undefined, query, undefined, metadataOnly.list);
        const having = page.items.filter(({ metadata }) => metadata.finalizers?.includes(finalizer));
        found.push(...having.map((object) => ({ kind, object })));
        next = page.metadata.continue || undefined;
      } while (next !== undefined);
    } catch (error) {
      if (isForbidden(error)) unseen.push(kindText(kind));
      // The kind was deleted in the meantime.
      else if (!isNotFound(error)) throw error;
    }
  return { found, unseen };
}

/** Removes the finalizer from an object and keeps all others. Does nothing if the object no longer exists. */
export async function removeFinalizer(
  client: KubeClient,
  { kind, object }: FinalizedObject,
  finalizer: string,
  fieldManager: string,
): Promise<void> {
  const { namespace, name, resourceVersion } = object.metadata;
  const at: ObjectName = { namespace, name };
  const finalizers = object.metadata.finalizers?.filter((other) => other !== finalizer);
  try {
    await client.mergePatch(kind, at, { metadata: { resourceVersion, finalizers } }, { fieldManager });
  } catch (error) {
    if (isNotFound(error)) return;
    if (!isConflict(error)) throw error;
    const newer = await client.get(kind, at).catch((reason: unknown) => {
      if (isNotFound(reason)) return undefined;
      throw reason;
    });
    if (newer?.metadata.finalizers?.includes(finalizer))
      await removeFinalizer(client, { kind, object: newer }, finalizer, fieldManager);
  }
}
