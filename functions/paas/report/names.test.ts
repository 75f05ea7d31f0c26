import { expect, test } from "vitest";
import { ApiError } from "../../../bus/kube/errors.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import type { AppPipeline } from "../kinds/apppipeline.ts";
import { contextOf, markerOf, previewContext } from "./names.ts";

const pipeline = (namespace: string, name: string, reportContext?: string) =>
  ({ metadata: { namespace, name }, status: { reportContext } }) as unknown as Stored<AppPipeline>;

/** A cluster that counts reads of its identity. */
function clusterOf(uid: string, cluster = "default") {
  const reads: string[] = [];
  const get = async (_: unknown, name: string) => {
    reads.push(name);
    return { metadata: { name, uid } };
  };
  return { reads, ctx: { cluster, live: { get } } as unknown as Context };
}

test("builds a context from cluster, namespace, and pipeline", async () => {
  const { ctx, reads } = clusterOf("u1", "prod");
  expect(await contextOf(pipeline("team-a", "shop"), ctx)).toBe("denrei/prod/team-a/shop");
  expect(reads).toEqual([]);
});

test("gives pipelines of other namespaces, names, or clusters other contexts, also for clusters without a name", async () => {
  const clusters = [clusterOf("u1"), clusterOf("u2"), clusterOf("u1", "prod"), clusterOf("u1", "stage")];
  const contexts: string[] = [];
  for (const { ctx } of clusters)
    for (const [namespace, name] of [
      ["team-a", "shop"],
      ["team-c", "shop"],
      ["team-a", "web"],
    ] as const)
      contexts.push(await contextOf(pipeline(namespace, name), ctx));
  expect(new Set(contexts).size).toBe(12);
  const all = contexts.flatMap((context) => [
    context,
    previewContext(context, 1),
    previewContext(context, 11),
  ]);
  expect(new Set(all).size).toBe(36);
  expect(new Set(contexts.map((context) => markerOf(context, 1))).size).toBe(12);
});

test("reads the identity of an unnamed cluster once, and keeps the context", async () => {
  const { ctx, reads } = clusterOf("u1");
  const context = await contextOf(pipeline("team-a", "shop"), ctx);
  expect(context).toMatch(/^denrei\/default-[0-9a-f]{8}\/team-a\/shop$/);
  expect(await contextOf(pipeline("team-a", "shop", context), clusterOf("u9").ctx)).toBe(context);
  expect(reads).toEqual(["kube-system"]);
  const { ctx: named } = clusterOf("u1", "prod");
  expect(await contextOf(pipeline("team-a", "shop", context), named)).toBe("denrei/prod/team-a/shop");
});

test("reports the missing right when the identity cannot be read", async () => {
  const get = () => Promise.reject(new ApiError("GET namespaces", 403, {}));
  const ctx = { cluster: "default", live: { get } } as unknown as Context;
  await expect(contextOf(pipeline("team-a", "shop"), ctx)).rejects.toMatchObject({
    reason: "ClusterUnknown",
    message: expect.stringContaining("DENREI_CLUSTER"),
  });
});

test("keeps the longest names within GitHub's limit", async () => {
  const long = "a".repeat(63);
  const context = await contextOf(pipeline(long, long), clusterOf("u", long).ctx);
  expect(previewContext(context, 2_147_483_647).length).toBeLessThanOrEqual(255);
});
