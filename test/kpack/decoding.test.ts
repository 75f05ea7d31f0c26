/** Messages recorded from kpack's own types at v0.17.2, decoded by Go 1.26.8. */
import { expect, test } from "vitest";
import { decodingError } from "../../deploy/simulators/kpack/decoding.ts";

const field = (name: string, found: string, type: string) =>
  `json: cannot unmarshal ${found} into Go struct field ${name} of type ${type}`;
const quantity =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

test.each([
  [{ tag: 1 }, field("ImageSpec.spec.tag", "number", "string")],
  [{ additionalTags: "x" }, field("ImageSpec.spec.additionalTags", "string", "[]string")],
  [{ additionalTags: [1] }, field("ImageSpec.spec.additionalTags", "number", "string")],
  [{ failedBuildHistoryLimit: "3" }, field("ImageSpec.spec.failedBuildHistoryLimit", "string", "int64")],
  [{ failedBuildHistoryLimit: 3.5 }, field("ImageSpec.spec.failedBuildHistoryLimit", "number 3.5", "int64")],
  [{ builder: "x" }, field("ImageSpec.spec.builder", "string", "v1.ObjectReference")],
  [{ builder: { name: 1 } }, field("ObjectReference.spec.builder.name", "number", "string")],
  [{ serviceAccountName: true }, field("ImageSpec.spec.serviceAccountName", "bool", "string")],
  [{ build: [] }, field("ImageSpec.spec.build", "array", "v1alpha2.ImageBuild")],
  [{ build: { env: { a: 1 } } }, field("ImageBuild.spec.build.env", "object", "[]v1.EnvVar")],
  [{ build: { env: ["a"] } }, field("ImageBuild.spec.build.env", "string", "v1.EnvVar")],
  [{ build: { env: [{ name: 1 }] } }, field("EnvVar.spec.build.env.name", "number", "string")],
  [{ build: { env: [{ name: "a", value: true }] } }, field("EnvVar.spec.build.env.value", "bool", "string")],
  [{ build: { buildTimeout: "9" } }, field("ImageBuild.spec.build.buildTimeout", "string", "int64")],
  [
    { build: { resources: { limits: "x" } } },
    field("ResourceRequirements.spec.build.resources.limits", "string", "v1.ResourceList"),
  ],
  [{ build: { resources: { limits: { memory: "banana" } } } }, quantity],
  [{ source: { git: "x" } }, field("SourceConfig.spec.source.git", "string", "v1alpha1.Git")],
  [{ source: { git: { url: {} } } }, field("Git.spec.source.git.url", "object", "string")],
  [{ cache: "x" }, field("ImageSpec.spec.cache", "string", "v1alpha2.ImageCacheConfig")],
  [
    { cache: { volume: "x" } },
    field("ImageCacheConfig.spec.cache.volume", "string", "v1alpha2.ImagePersistentVolumeCache"),
  ],
  [{ cache: { volume: { size: "banana" } } }, quantity],
  [{ cache: { volume: { size: true } } }, quantity],
  [{ cache: { volume: { size: "" } } }, quantity],
  [{ cache: { registry: { tag: 1 } } }, field("RegistryCache.spec.cache.registry.tag", "number", "string")],
  [{ cache: { volume: { size: 3 } }, build: null, tag: "a" }, undefined],
  [{ cache: { volume: { size: "1e" } } }, "unable to parse quantity's suffix"],
  [
    { imageTaggingStrategy: 1 },
    field("ImageSpec.spec.imageTaggingStrategy", "number", "v1alpha1.ImageTaggingStrategy"),
  ],
  [
    { failedBuildHistoryLimit: 1e30 },
    field("ImageSpec.spec.failedBuildHistoryLimit", "number 1e+30", "int64"),
  ],
  // The first field in alphabetical order wins.
  [{ tag: 1, builder: "x" }, field("ImageSpec.spec.builder", "string", "v1.ObjectReference")],
  [{ source: { git: { url: 1, revision: 1 } } }, field("Git.spec.source.git.revision", "number", "string")],
  // A quantity error comes before all others.
  [{ build: { env: "x" }, cache: { volume: { size: "banana" } } }, quantity],
])("an Image with %j: %s", (spec, text) => {
  expect(decodingError({ spec })).toBe(text);
});

test("reports a spec that is not an object", () => {
  expect(decodingError({ spec: "x" })).toBe(field("Image.spec", "string", "v1alpha2.ImageSpec"));
});
