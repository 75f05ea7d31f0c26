/** Many idle Hikawas: 2 KB each, and finished, so that no controller writes. */
import { type KubeClient, resourcePath } from "../../../bus/kube/client.ts";
import { crdOf } from "../../../bus/kube/crd.ts";
import { apiVersionOf, type Kind } from "../../../bus/kube/kind.ts";
import { Hikawa, Kiyoshi, Zundoko } from "../../../functions/zundoko/kinds.ts";

/** Size of one object as JSON without managedFields, as on the bus. */
export const objectBytes = 2048;

/** Concurrent creates. */
const creators = 16;
/** Objects deleted per call. Each call has to end within the client's 30 s, also on a busy machine. */
const deletedAtOnce = 200;
/** Size of the fields that the API server adds: uid, resourceVersion, creation time, generation, and the JSON around them. */
const addedBytes = 130;

/**
 * The kinds without status subresources, so that a finished Hikawa takes one write instead of two. Both sides use them, and neither
 * writes.
 */
export const crowdCrds = (): Record<string, unknown>[] =>
  [Hikawa, Zundoko, Kiyoshi].map((kind: Kind) => {
    const crd = structuredClone(crdOf(kind)) as { spec: { versions: { subresources?: object }[] } };
    for (const version of crd.spec.versions) delete version.subresources;
    return crd as Record<string, unknown>;
  });

/** A finished Hikawa of {@link objectBytes}. */
export function finishedHikawa(name: string): Hikawa {
  const hikawa: Hikawa = {
    apiVersion: apiVersionOf(Hikawa),
    kind: "Hikawa",
    metadata: { name, namespace: "default", annotations: { "test.denrei.dev/padding": "" } },
    spec: { intervalMillis: 86_400_000 },
    status: { kiyoshied: true },
  };
  const padding = "x".repeat(objectBytes - addedBytes - JSON.stringify(hikawa).length);
  return { ...hikawa, metadata: { ...hikawa.metadata, annotations: { "test.denrei.dev/padding": padding } } };
}

/** Creates `count` Hikawas, numbered from `first`, as fast as the API server accepts them. */
export async function createCrowd(
  client: KubeClient,
  { prefix, first, count, signal }: { prefix: string; first: number; count: number; signal: AbortSignal },
): Promise<void> {
  let next = first;
  const create = async () => {
    while (next < first + count)
      await client.create(Hikawa, finishedHikawa(`${prefix}-${String(next++).padStart(6, "0")}`), {
        fieldManager: "test",
        signal,
      });
  };
  await Promise.all(Array.from({ length: creators }, create));
}

/** Deletes all Hikawas. */
export async function deleteCrowd(client: KubeClient, signal: AbortSignal): Promise<void> {
  const path = resourcePath(Hikawa, "default");
  for (;;) {
    const query = { limit: 1 };
    const { items } = await client.request<{ items: unknown[] }>({ method: "GET", path, query, signal });
    if (items.length === 0) return;
    await client.request({ method: "DELETE", path, query: { limit: deletedAtOnce }, signal });
  }
}
