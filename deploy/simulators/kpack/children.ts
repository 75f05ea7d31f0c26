/** The children of an Image in kpack v0.17.2: a SourceResolver, and the PersistentVolumeClaim of its cache. */
import { isDeepStrictEqual } from "node:util";
import { apiVersionOf, controllerReference, type KubeObject, type Stored } from "denrei/kinds";
import { amountOf, type KubeClient, resourcePath } from "denrei/kubernetes";
import type { Informer } from "./informer.ts";
import { type Image, PersistentVolumeClaim, SourceResolver } from "./kinds.ts";
import { cacheName, sourceResolverName } from "./names.ts";
import { fieldManager } from "./status.ts";

/** Dependencies of both functions. */
export interface ChildOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly sourceResolvers: Informer<SourceResolver>;
  readonly claims: Informer<KubeObject>;
}

/**
 * Creates or updates the SourceResolver. If it was just written, it is returned without its status, which belongs to the
 * previous spec.
 */
export async function ensureSourceResolver(
  image: Stored<Image>,
  { client, signal, sourceResolvers }: ChildOptions,
): Promise<Stored<SourceResolver>> {
  const { namespace = "", name, labels } = image.metadata;
  const at = { namespace, name: sourceResolverName(name) };
  const spec = { serviceAccount: image.spec.serviceAccountName ?? "default", source: image.spec.source };
  const found = sourceResolvers.get(at);
  if (
    found &&
    isDeepStrictEqual(found.spec, spec) &&
    isDeepStrictEqual(found.metadata.labels ?? {}, labels ?? {})
  )
    return found;
  const { status: _before, ...written } = found
    ? await client
        .request<Stored<SourceResolver>>({
          method: "PUT",
          path: resourcePath(SourceResolver, namespace, at.name),
          query: { fieldManager },
          body: { ...found, metadata: { ...found.metadata, labels }, spec },
          signal,
        })
        .then(observed(sourceResolvers))
    : await client
        .create(
          SourceResolver,
          {
            apiVersion: apiVersionOf(SourceResolver),
            kind: SourceResolver.kind,
            metadata: { ...at, ...(labels && { labels }), ownerReferences: [controllerReference(image)] },
            spec,
          },
          { fieldManager, signal },
        )
        .then(observed(sourceResolvers));
  return written;
}

/**
 * Creates, grows, or deletes the claim of the cache. Resolves to its name. Rejects if the API server rejects the new size;
 * the Image's reconcile then stops.
 */
export async function ensureCache(
  image: Stored<Image>,
  { client, signal, claims }: ChildOptions,
): Promise<string | undefined> {
  const { namespace = "", name, labels } = image.metadata;
  const at = { namespace, name: cacheName(name) };
  const { size, storageClassName } = image.spec.cache?.volume ?? {};
  const found = claims.get(at);
  if (size === undefined) {
    if (found) await client.delete(PersistentVolumeClaim, at, { uid: found.metadata.uid, signal });
    return undefined;
  }
  if (found === undefined) {
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { ...at, ...(labels && { labels }), ownerReferences: [controllerReference(image)] },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: size } },
        ...(storageClassName && { storageClassName }),
      },
    };
    claims.observe(await client.create(PersistentVolumeClaim, claim, { fieldManager, signal }));
    return at.name;
  }
  const resources = { requests: { storage: size } };
  if (amountOf(storageOf(found)) !== amountOf(size)) {
    const patch = { spec: { resources } };
    claims.observe(await client.mergePatch(PersistentVolumeClaim, at, patch, { fieldManager, signal }));
  }
  return at.name;
}

const storageOf = ({ spec }: KubeObject): unknown =>
  (spec as { resources?: { requests?: { storage?: unknown } } }).resources?.requests?.storage;

const observed =
  <T extends KubeObject>(informer: Informer<T>) =>
  (object: Stored<T>): Stored<T> => {
    informer.observe(object);
    return object;
  };
