import { expect, test } from "vitest";
import { ApiError } from "../../../bus/kube/errors.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import type { Image } from "../kinds/kpack.ts";
import { growthProblem } from "./cache.ts";

const image = (size: string | undefined, buildCacheName?: string) =>
  ({
    metadata: { namespace: "team-a", name: "web", uid: "u", resourceVersion: "1" },
    spec: { ...(size !== undefined && { cache: { volume: { size } } }) },
    status: { buildCacheName },
  }) as unknown as Stored<Image>;

interface Cluster {
  readonly claim?: { readonly size: string; readonly phase?: string; readonly of?: string };
  readonly expandable?: boolean;
  readonly forbidden?: boolean;
}

/** The problem of changing the size of a 2G cache. */
function problem(size: string | undefined, { claim, expandable, forbidden = false }: Cluster) {
  const get = async ({ kind }: { kind: string }) => {
    if (kind === "Image") return image("2G", claim && "web-cache");
    if (forbidden) throw new ApiError("GET /", 403, { reason: "Forbidden", message: "no" });
    if (kind === "StorageClass") return { allowVolumeExpansion: expandable };
    return {
      metadata: { name: "web-cache" },
      spec: { storageClassName: claim?.of, resources: { requests: { storage: claim?.size } } },
      status: { phase: claim?.phase ?? "Bound" },
    };
  };
  return growthProblem(image("2G"), image(size), { live: { get } } as unknown as Context);
}

const claim = { size: "2G", of: "fast" };

test.each<[string, string | undefined, Cluster]>([
  ["is not larger", "2000M", { claim }],
  ["is smaller", "1G", { claim }],
  ["is not desired", undefined, { claim }],
  ["has no claim yet", "3G", {}],
  ["has already grown", "3G", { claim: { ...claim, size: "3G" } }],
  ["has a class that allows expansion", "3G", { claim, expandable: true }],
  ["the worker may not read", "3G", { claim, forbidden: true }],
])("finds no problem with a cache that %s", async (_, size, cluster) => {
  expect(await problem(size, cluster)).toBeUndefined();
});

test.each<[string, Cluster]>([
  ["StorageClass fast", { claim }],
  ["StorageClass fast", { claim, expandable: false }],
  ["StorageClass (none)", { claim: { size: "2G" }, expandable: true }],
  ["is not bound", { claim: { ...claim, phase: "Pending" }, expandable: true }],
])("detects a cache that cannot grow before kpack is asked: %s", async (text, cluster) => {
  expect(await problem("3G", cluster)).toContain(text);
});
