/** Lists objects of any kind, and removes their finalizers. */
import { type KubeClient, metadataOnly, type ObjectName } from "./client.ts";
import { isConflict, isForbidden, isNotFound } from "./errors.ts";
import { externalKind, type Kind, kindText } from "./kind.ts";
import type { KubeObject, Stored } from "./object.ts";

/** An object, of which only the metadata is known. */
export interface FoundObject {
  readonly kind: Kind;
  readonly object: Stored<KubeObject>;
}

/** Objects, and the kinds that the user may not list. */
export interface FoundObjects {
  readonly found: readonly FoundObject[];
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
export async function servedKinds(client: KubeClient): Promise<Kind[]> {
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

/** Lists the objects of these kinds that are wanted, in all namespaces and page by page. Reads only metadata. */
export async function objectsOf(
  client: KubeClient,
  kinds: readonly Kind[],
  isWanted: (object: Stored<KubeObject>) => boolean = () => true,
): Promise<FoundObjects> {
  const found: FoundObject[] = [];
  const unseen: string[] = [];
  for (const kind of kinds)
    try {
      let next: string | undefined;
      do {
        const query = { limit: pageSize, continue: next };
        const page = await client.list(kind, undefined, query, undefined, metadataOnly.list);
        found.push(...page.items.filter(isWanted).map((object) => ({ kind, object })));
        next = page.metadata.continue || undefined;
      } while (next !== undefined);
    } catch (error) {
      if (isForbidden(error)) unseen.push(kindText(kind));
      // The kind was deleted in the meantime.
      else if (!isNotFound(error)) throw error;
    }
  return { found, unseen };
}

/** Finds the objects with the finalizer, of all kinds and in all namespaces. */
export async function objectsWithFinalizer(client: KubeClient, finalizer: string): Promise<FoundObjects> {
  return objectsOf(client, await servedKinds(client), ({ metadata }) =>
    Boolean(metadata.finalizers?.includes(finalizer)),
  );
}

/** Removes the finalizer from an object and keeps all others. Does nothing if the object no longer exists. */
export async function removeFinalizer(
  client: KubeClient,
  { kind, object }: FoundObject,
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
