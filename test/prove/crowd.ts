/** Hikawas in great number that have nothing to do: of 2 KB each, and finished, so that no controller writes. */
import { type KubeClient, resourcePath } from "../../bus/kube/client.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import { apiVersionOf, type Kind } from "../../bus/kube/kind.ts";
import { Hikawa, Kiyoshi, Zundoko } from "../../functions/zundoko/kinds.ts";

/** Of one object, as JSON without managedFields: what is on the bus. */
export const objectBytes = 2048;

/** Creates under way at once. */
const creators = 16;
/** Deleted per call, so that each is answered within the client's 30 s, also on a busy machine. */
const deletedAtOnce = 200;
/** What the API server adds to an object: uid, resourceVersion, creation time, generation, and the JSON around them. */
const addedBytes = 130;

/**
 * The kinds without status subresources: a finished Hikawa is then made with one write instead of two. For both
 * sides alike, and neither writes.
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

/** Creates `count` of them, numbered from `first`, as fast as the API server takes them. */
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
