/** The simulated kpack webhooks against the recording: rejections, their messages, and defaults. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiError } from "../../bus/kube/errors.ts";
import { externalKind, type Kind } from "../../bus/kube/kind.ts";
import {
  Build,
  Image,
  PersistentVolumeClaim,
  SourceResolver,
  StorageClass,
} from "../../deploy/simulators/kpack/kinds.ts";
import {
  type Environment,
  imageIn,
  manager,
  r1,
  r2,
  registry,
  revised,
  startEnvironment,
  type TestNamespace,
} from "./environment.ts";
import { invalidImages, validating } from "./invalidimages.ts";
import { record } from "./recording.ts";

let environment: Environment;
let ns: TestNamespace;
beforeAll(async () => {
  environment = await startEnvironment();
  ns = await environment.createNamespace("t1");
  await ns.image("web");
  await ns.untilReady("web", "True/UpToDate");
});
afterAll(() => environment?.stop());

/** Resolves to the status, reason, and message with which the API server rejects a write. */
async function rejectionOf(
  write: Promise<unknown>,
): Promise<{ code: number; reason: string; message: string }> {
  const error = await write.then(
    (written) => new Error(`write was not rejected: ${JSON.stringify(written)}`),
    (error: unknown) => error,
  );
  if (!(error instanceof ApiError)) throw error;
  const message = error.message.slice(error.message.indexOf(": ") + 2);
  return { code: error.status, reason: error.reason, message };
}

const rejected = (rest: string) => ({ code: 400, reason: "BadRequest", message: `${validating}${rest}` });

describe("a new Image", () => {
  test.each(invalidImages)("is rejected with %s", async (_what, spec, rest) => {
    expect(await rejectionOf(ns.image("bad", { spec: spec as never }))).toEqual(rejected(rest));
  });

  test("is rejected with a name of 64 letters, but not with 63 or with dots", async () => {
    const name = "n".repeat(64);
    expect(await rejectionOf(ns.image(name))).toEqual(
      rejected(
        `invalid image name: ${name}, name must be a valid label: metadata.name\nmust be no more than 63 characters`,
      ),
    );
    await ns.image("n".repeat(63));
    await ns.image("with.dots");
  });

  test("silently loses unknown and empty fields", async () => {
    const unknown = {
      foo: "bar",
      serviceAccount: "v1alpha1",
      additionalTags: [],
      build: { env: [], nonsense: 1 },
    };
    const { spec } = await ns.image("dropped", { spec: unknown as never });
    expect(Object.keys(spec).sort()).toEqual([
      "build",
      "builder",
      "failedBuildHistoryLimit",
      "imageTaggingStrategy",
      "serviceAccountName",
      "source",
      "successBuildHistoryLimit",
      "tag",
    ]);
    expect(spec.build).toEqual({ resources: {} });
  });

  test("is not validated in v1alpha1", async () => {
    const image = { ...imageIn("t1", "old"), apiVersion: "kpack.io/v1alpha1" };
    const OldImage = externalKind<Image>({ ...Image, version: "v1alpha1" });
    const { spec } = await environment.client.create(
      OldImage,
      { ...image, spec: { ...image.spec, tag: "UPPER" } },
      manager,
    );
    expect(spec.tag).toBe("UPPER");
    expect(spec.imageTaggingStrategy).toBeUndefined();
    await environment.client.delete(Image, { namespace: "t1", name: "old" }, {});
  });
});

test("rejects an Image with a field of the wrong type with Go's message", async () => {
  const message =
    'admission webhook "defaults.webhook.kpack.io" denied the request: mutation failed: cannot decode incoming new object: json: cannot unmarshal string into Go struct field ImageSpec.spec.failedBuildHistoryLimit of type int64';
  const spec = { failedBuildHistoryLimit: "3" } as never;
  expect(await rejectionOf(ns.image("undecodable", { spec }))).toEqual({
    ...{ code: 400, reason: "BadRequest", message },
  });
});

describe("a change", () => {
  test.each([`${registry}/apps/web2`, `${registry}/apps/web:latest`])(
    "of the tag to %s is rejected",
    async (tag) => {
      expect(await rejectionOf(ns.patch("web", { spec: { tag } }))).toEqual(
        rejected(`Immutable field changed: spec.tag\ngot: ${tag}, want: ${registry}/apps/web`),
      );
    },
  );

  test("of a Build's spec is rejected", async () => {
    const at = { namespace: "t1", name: "web-build-1" };
    const patch = { spec: { serviceAccountName: "zzz" } };
    expect(await rejectionOf(environment.client.mergePatch(Build, at, patch, manager))).toEqual(
      rejected(
        'Immutable fields changed (-old +new): spec.spec\n{*v1alpha2.BuildSpec}.ServiceAccountName:\n\t-: "app-builder"\n\t+: "zzz"',
      ),
    );
  });
});

describe("a default StorageClass", () => {
  const name = "standard";
  const storageClass = {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: "example.com/none",
  };

  test("adds a cache to each written Image, and its deletion blocks their status", async () => {
    const other = await environment.createNamespace("cached");
    const before = await other.image("before");
    await other.untilReady("before", "True/UpToDate");
    await environment.client.create(StorageClass, storageClass, manager);
    // Wait until the simulator has seen it, as with kpack.
    await expect
      .poll(
        async () =>
          (await environment.client.create(Image, imageIn("cached", "probe"), { ...manager, dryRun: "All" }))
            .spec.cache,
      )
      .toEqual({ volume: { size: "2G" } });
    expect(before.spec.cache).toBeUndefined();
    const touched = await other.patch("before", { metadata: { labels: { touched: "yes" } } });
    expect([touched.spec.cache, touched.metadata.generation]).toEqual([{ volume: { size: "2G" } }, 2]);
    const kinds = [PersistentVolumeClaim, SourceResolver].map((kind) => kind as Kind);
    const seen = await record(environment.client, "cached", kinds);
    await other.image("web");
    const made = await seen.until("ADDED PersistentVolumeClaim web-cache", "ADDED SourceResolver web-source");
    seen.stop();
    expect(made.filter((line) => /^ADDED .* web-/.test(line))).toEqual([
      "ADDED PersistentVolumeClaim web-cache",
      "ADDED SourceResolver web-source",
    ]);
    const image = await other.untilReady("web", "True/UpToDate");
    expect(image.status?.buildCacheName).toBe("web-cache");
    const claim = await environment.client.get(PersistentVolumeClaim, {
      namespace: "cached",
      name: "web-cache",
    });
    expect(claim.spec).toMatchObject({ resources: { requests: { storage: "2G" } } });
    expect(claim.metadata.ownerReferences).toMatchObject([{ kind: "Image", name: "web" }]);
    const [build] = await other.builds("web");
    expect(build?.spec.cache).toEqual({ volume: { persistentVolumeClaimName: "web-cache" } });

    await other.image("grown");
    await other.untilReady("grown", "True/UpToDate");
    const sized = (size: string | null) => ({ spec: { cache: size === null ? null : { volume: { size } } } });
    await other.patch("grown", sized("3G"));
    const decreased = (size: string) =>
      rejected(`Field cannot be decreased: spec.cache.volume.size\ncurrent: 3G, requested: ${size}`);
    expect(await rejectionOf(other.patch("grown", sized("2500M")))).toEqual(decreased("2500M"));
    // Without a size it gets the default, which is smaller.
    expect(await rejectionOf(other.patch("grown", sized(null)))).toEqual(decreased("2G"));
    // Its claim cannot grow, so kpack fails before it looks at another revision.
    await other.patch("grown", revised(r2));
    await environment.failures.until((line) =>
      /cached\/grown: .*(immutable after creation|only dynamically provisioned pvc can be resized)/s.test(
        line,
      ),
    );
    const stuck = await environment.client.get(Image, { namespace: "cached", name: "grown" });
    expect(stuck.status?.observedGeneration).toBeLessThan(stuck.metadata.generation ?? 0);
    expect(await other.builds("grown")).toHaveLength(1);

    await environment.client.delete(StorageClass, { name }, {});
    const message = `${validating}spec.cache.volume.size cannot be set without spec.cache.volume.storageClassName or a default StorageClass: `;
    const at = { namespace: "cached", name: "web" };
    const tried = () => environment.client.mergePatch(Image, at, revised(r2), { ...manager, dryRun: "All" });
    await expect
      .poll(() => rejectionOf(tried()).catch(String))
      .toEqual({ code: 400, reason: "BadRequest", message });
    const needed = { metadata: { annotations: { "image.kpack.io/additionalBuildNeeded": "" } } };
    await environment.client.mergePatch(Build, { namespace: "cached", name: "web-build-1" }, needed, manager);
    await other.untilBuilt("web", 2);
    const frozen = await environment.client.get(Image, at);
    expect(frozen.status).toEqual(image.status);
  });
});

describe("an unavailable webhook", () => {
  const failed = (name: string, path: string) =>
    new RegExp(
      `^failed calling webhook "${name}": failed to call webhook: Post "https://127\\.0\\.0\\.1:\\d+${path}\\?timeout=10s": .*connection refused`,
    );

  test("blocks all writes but no reads until it is back", async () => {
    const at = { namespace: "t1", name: "web" };
    const status = (body: object) =>
      environment.client.mergePatch(Image, at, body, { ...manager, subresource: "status" });
    await environment.kpack.webhook.stop();
    const answers = {
      create: await rejectionOf(ns.image("late")),
      update: await rejectionOf(ns.patch("web", revised(r2))),
      status: await rejectionOf(status({ status: { buildCounter: 7 } })),
      delete: await rejectionOf(environment.client.delete(Image, at, {})),
      build: await rejectionOf(
        environment.client.delete(Build, { namespace: "t1", name: "web-build-1" }, {}),
      ),
    };
    for (const [what, { code, reason, message }] of Object.entries(answers)) {
      const isDelete = what === "delete" || what === "build";
      expect([code, reason]).toEqual([500, "InternalError"]);
      expect(message).toMatch(/^Internal error occurred: /);
      expect(message.replace("Internal error occurred: ", "")).toMatch(
        isDelete
          ? failed("validation.webhook.kpack.io", "/validate")
          : failed("defaults.webhook.kpack.io", "/defaults"),
      );
    }
    expect((await environment.client.get(Image, at)).spec.source.git?.revision).toBe(r1);
    await environment.kpack.webhook.restart();
    await ns.patch("web", revised(r2));
    await ns.untilBuilt("web", 2);
  });
});
