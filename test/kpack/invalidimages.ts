/** Images that the webhooks of kpack v0.17.2 reject, with the recorded messages. */
import { r1, registry } from "./environment.ts";

/** Prefix of each message. */
export const validating =
  'admission webhook "validation.webhook.kpack.io" denied the request: validation failed: ';

const git = { url: "https://git.example/acme/web", revision: r1 };

/** Name, invalid fields of `spec`, and the message without its prefix. There is no default StorageClass. */
export const invalidImages: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] = [
  [
    "additional tags of another registry",
    { additionalTags: ["ghcr.io/apps/web:x"] },
    `all additionalTags must have the same registry as tag: spec.additionalTags\nexpected registry: ${registry}, got: ghcr.io`,
  ],
  [
    "invalid additional tags",
    { additionalTags: [`${registry}/apps/WEB:x`] },
    `invalid value: ${registry}/apps/WEB:x: spec.additionalTags[0]`,
  ],
  [
    "a Secret in the environment",
    {
      build: {
        env: [
          { name: "A", valueFrom: { configMapKeyRef: { name: "a", key: "b" } } },
          { name: "B", valueFrom: { secretKeyRef: { name: "a", key: "b" } } },
        ],
      },
    },
    "secretKeyRef is not supported for build environment variables: spec.build.env[1].valueFrom.secretKeyRef",
  ],
  ["no builder kind", { builder: { name: "default" } }, "invalid value: : spec.builder.kind"],
  [
    "an invalid builder kind",
    { builder: { kind: "Foo", name: "default" } },
    "invalid value: Foo: spec.builder.kind",
  ],
  ["no builder name", { builder: { kind: "Builder" } }, "missing field(s): spec.builder.name"],
  [
    "two sources",
    { source: { git, blob: { url: "https://blob.example" } } },
    "expected exactly one, got both: spec.source.blob, spec.source.git",
  ],
  [
    "no source",
    { source: {} },
    "expected exactly one, got neither: spec.source.blob, spec.source.git, spec.source.registry",
  ],
  [
    "no revision",
    { source: { git: { ...git, revision: "" } } },
    "missing field(s): spec.source.git.revision",
  ],
  ["no tag", { tag: undefined }, "missing field(s): spec.tag"],
  ["an invalid tag", { tag: "UPPER" }, "invalid value: UPPER: spec.tag"],
  [
    "no failed Builds kept",
    { failedBuildHistoryLimit: 0 },
    "build history limit must be greater than 0: spec.failedBuildHistoryLimit",
  ],
  [
    "bindings of v1alpha1",
    { build: { cnbBindings: [{ name: "a" }] } },
    "use of this field has been deprecated in v1alpha2, please use v1alpha1 for CNB bindings: spec.build.cnbBindings",
  ],
  [
    "a cache without a default StorageClass",
    { cache: { volume: { size: "1G" } } },
    "spec.cache.volume.size cannot be set without spec.cache.volume.storageClassName or a default StorageClass: ",
  ],
  [
    "two caches",
    { cache: { volume: { size: "1G", storageClassName: "fast" }, registry: { tag: `${registry}/cache` } } },
    "only one type of cache can be specified: spec.cache.registry, spec.cache.volume",
  ],
  [
    "an operating system",
    { build: { nodeSelector: { "kubernetes.io/os": "linux" } } },
    'invalid key name "kubernetes.io/os": spec.build.nodeSelector\nos is determined automatically',
  ],
  [
    "two mistakes",
    { tag: undefined, source: { git: { url: git.url } } },
    "missing field(s): spec.source.git.revision, spec.tag",
  ],
];
