/** Checks whether a cache volume can grow. kpack's webhook accepts any size, and its controller then fails permanently. */
import { amountOf, type Context, isForbidden, type Stored } from "denrei";
import { Image } from "../kinds/kpack.ts";
import { PersistentVolumeClaim, StorageClass } from "../kinds/storage.ts";

/** The size of the cache in an Image's spec. */
export const cacheSizeOf = ({ spec }: Pick<Image, "spec">): number | undefined =>
  amountOf((spec.cache as { volume?: { size?: unknown } } | undefined)?.volume?.size);

/** Why the cache of an Image cannot grow to the desired size; undefined if it can, need not, or the worker may not read the volume. */
export async function growthProblem(
  found: Stored<Image>,
  desired: Pick<Image, "spec">,
  { live }: Pick<Context, "live">,
): Promise<string | undefined> {
  const size = cacheSizeOf(desired) ?? 0;
  if (size <= (cacheSizeOf(found) ?? size)) return undefined;
  try {
    const { buildCacheName } = (await live.get(Image, found.metadata.name))?.status ?? {};
    const claim = buildCacheName && (await live.get(PersistentVolumeClaim, buildCacheName));
    if (!claim || (amountOf(claim.spec.resources?.requests?.storage) ?? 0) >= size) return undefined;
    const { name } = claim.metadata;
    if (claim.status?.phase !== "Bound") return `the PersistentVolumeClaim ${name} of the cache is not bound`;
    const { storageClassName: of = "" } = claim.spec;
    const storageClass = of ? await live.get(StorageClass, of) : undefined;
    return storageClass?.allowVolumeExpansion
      ? undefined
      : `the StorageClass ${of || "(none)"} of the PersistentVolumeClaim ${name} does not allow volume expansion`;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
