/**
 * Compares the recorded behavior of kpack's webhooks with a released kpack on a cluster of kind. `DENREI_TEST_KPACK_MANIFESTS` is
 * the path of the manifest of release v0.17.2. There are no builds, since these would need a repository and a registry.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiError } from "../../bus/kube/errors.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import { Image } from "../../deploy/simulators/kpack/kinds.ts";
import { startKet } from "../harness/startket.ts";
import type { Ket } from "../ket/index.ts";
import { imageIn } from "../kpack/environment.ts";
import { invalidImages, validating } from "../kpack/invalidimages.ts";

const manager = { fieldManager: "test" } as const;

let ket: Ket;
beforeAll(async () => {
  const manifests = process.env.DENREI_TEST_KPACK_MANIFESTS;
  if (manifests === undefined)
    throw new Error(
      "DENREI_TEST_KPACK_MANIFESTS is not set. Set it to the manifest of the release v0.17.2 of kpack.",
    );
  ket = await startKet({ cluster: "kind", crds: [] });
  // kind creates a default StorageClass, which the recorded behavior does not cover.
  await ket.kubectl.delete({
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "standard" },
  });
  // The manifest contains an object of a kind that it defines, which is rejected until the CRD is established.
  const apply = async () => ket.kind?.kubectl("apply", "--server-side", "--filename", manifests);
  const applied = () =>
    apply().then(
      () => "applied",
      (error: Error) => error.message,
    );
  await expect.poll(applied, { timeout: 120_000 }).toBe("applied");
  for (const name of ["kpack-controller", "kpack-webhook"])
    await ket.waitFor(
      { kind: Deployment, name, namespace: "kpack" },
      ({ status }) => (status?.availableReplicas ?? 0) > 0,
      600_000,
    );
  // The webhook adds its certificate to its own configuration only after it is available.
  await expect
    .poll(
      () =>
        create("first").then(
          () => "accepted",
          (error: Error) => error.message,
        ),
      { timeout: 120_000 },
    )
    .toBe("accepted");
});
afterAll(() => ket?.stop());

const create = (name: string, spec?: Readonly<Record<string, unknown>>) =>
  ket.client.create(Image, imageIn(ket.namespace, name, { spec: spec as never }), manager);

test.each(invalidImages)(
  "an Image with %s is rejected with the recorded message",
  async (_what, spec, rest) => {
    const error = await create("bad", spec).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).status).toBe(400);
    expect((error as ApiError).message).toContain(`${validating}${rest}`);
  },
);

test("an Image gets the recorded defaults", async () => {
  const { spec } = await create("defaulted");
  expect(spec).toMatchObject({
    imageTaggingStrategy: "BuildNumber",
    successBuildHistoryLimit: 10,
    failedBuildHistoryLimit: 10,
  });
});
