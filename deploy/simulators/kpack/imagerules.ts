/**
 * Validation of an Image by the webhook of kpack v0.17.2, with kpack's messages. Not simulated: rules about service bindings,
 * notary, and cosign.
 */
import { amountOf } from "denrei/kubernetes";
import { type FieldError, immutable, invalid, missing } from "./fielderrors.ts";
import type { Image, ImageBuild, ImageSpec, Source } from "./kinds.ts";
import { canonicalQuantity } from "./quantity.ts";
import { parseTag } from "./reference.ts";

/** Properties of the cluster that the rules depend on. */
export interface Cluster {
  readonly hasDefaultStorageClass: boolean;
}

const maxName = 63;

/** All errors of an Image; `before` is the stored one that it replaces. */
export const imageErrors = (image: Image, before: Image | undefined, cluster: Cluster): FieldError[] => [
  ...tagErrors(image.spec, before?.spec),
  ...additionalTagErrors(image.spec),
  ...builderErrors(image.spec),
  ...sourceErrors(image.spec.source),
  ...envErrors(image.spec.build?.env, "spec.build.env"),
  ...buildErrors(image.spec.build),
  ...cacheErrors(image.spec, before?.spec, cluster),
  ...historyErrors(image.spec),
  ...nameErrors(image.metadata.name),
];

function tagErrors({ tag = "" }: ImageSpec, before: ImageSpec | undefined): FieldError[] {
  if (before) return immutable(before.tag, tag, "spec.tag");
  if (!tag) return [missing("spec.tag")];
  return parseTag(tag) ? [] : [invalid(tag, "spec.tag")];
}

function additionalTagErrors({ tag = "", additionalTags = [] }: ImageSpec): FieldError[] {
  const registry = parseTag(tag)?.registry;
  const elsewhere = additionalTags
    .map((one) => parseTag(one)?.registry)
    .find((one) => one !== undefined && registry !== undefined && one !== registry);
  return [
    ...additionalTags.flatMap((one, at) =>
      parseTag(one) ? [] : [invalid(one, `spec.additionalTags[${at}]`)],
    ),
    ...(elsewhere === undefined
      ? []
      : [
          {
            message: "all additionalTags must have the same registry as tag",
            path: "spec.additionalTags",
            details: `expected registry: ${registry}, got: ${elsewhere}`,
          },
        ]),
  ];
}

function builderErrors({ builder: { kind = "", name } }: ImageSpec): FieldError[] {
  if (!name) return [missing("spec.builder.name")];
  return ["Builder", "ClusterBuilder"].includes(kind) ? [] : [invalid(kind, "spec.builder.kind")];
}

/** Errors of a source; also used for Builds. */
export function sourceErrors({ git, blob, registry }: Source): FieldError[] {
  const among = (message: string, names: readonly string[]) =>
    names.map((name) => ({ message: `expected exactly one, got ${message}`, path: `spec.source.${name}` }));
  const given = Object.entries({ git, blob, registry }).flatMap(([name, one]) => (one ? [name] : []));
  if (given.length === 0) return among("neither", ["git", "blob", "registry"]);
  if (given.length > 1) return among("both", given);
  if (git === undefined) return [];
  return [
    ...(git.url ? [] : [missing("spec.source.git.url")]),
    ...(git.revision ? [] : [missing("spec.source.git.revision")]),
  ];
}

/** Errors of environment variables; also used for Builds. */
export const envErrors = (env: ImageBuild["env"] = [], path: string): FieldError[] =>
  env.flatMap(({ valueFrom }, at) =>
    valueFrom?.secretKeyRef
      ? [
          {
            message: "secretKeyRef is not supported for build environment variables",
            path: `${path}[${at}].valueFrom.secretKeyRef`,
          },
        ]
      : [],
  );

function buildErrors(build: ImageBuild = {}): FieldError[] {
  const { nodeSelector = {}, cnbBindings = [], creationTime = "" } = build;
  if ("kubernetes.io/os" in nodeSelector)
    return [
      {
        message: 'invalid key name "kubernetes.io/os"',
        path: "spec.build.nodeSelector",
        details: "os is determined automatically",
      },
    ];
  return [
    ...(/^(now|[+-]?\d+)?$/.test(creationTime) ? [] : [invalid(creationTime, "spec.build.creationTime")]),
    ...(cnbBindings.length === 0
      ? []
      : [
          {
            message:
              "use of this field has been deprecated in v1alpha2, please use v1alpha1 for CNB bindings",
            path: "spec.build.cnbBindings",
          },
        ]),
  ];
}

function cacheErrors({ cache }: ImageSpec, before: ImageSpec | undefined, cluster: Cluster): FieldError[] {
  const volume = cache?.volume;
  const only = "only one type of cache can be specified";
  const was = before?.cache?.volume;
  return [
    ...(volume && cache.registry
      ? ["registry", "volume"].map((name) => ({ message: only, path: `spec.cache.${name}` }))
      : []),
    ...(volume && !volume.storageClassName && !cluster.hasDefaultStorageClass
      ? [
          {
            message:
              "spec.cache.volume.size cannot be set without spec.cache.volume.storageClassName or a default StorageClass",
            path: "",
          },
        ]
      : was && volume
        ? volumeErrors(was, volume)
        : []),
  ];
}

type Volume = NonNullable<NonNullable<ImageSpec["cache"]>["volume"]>;

/** Accepts a larger size even if the volume cannot grow. */
function volumeErrors(was: Volume, volume: Volume): FieldError[] {
  if ((amountOf(volume.size) ?? 0) < (amountOf(was.size) ?? 0))
    return [
      {
        message: "Field cannot be decreased",
        path: "spec.cache.volume.size",
        details: `current: ${canonicalQuantity(was.size)}, requested: ${canonicalQuantity(volume.size)}`,
      },
    ];
  const path = "spec.cache.volume.storageClassName";
  return immutable(was.storageClassName ?? "", volume.storageClassName ?? "", path);
}

function historyErrors(spec: ImageSpec): FieldError[] {
  const limit = (["failedBuildHistoryLimit", "successBuildHistoryLimit"] as const).find(
    (name) => (spec[name] ?? 1) < 1,
  );
  return limit ? [{ message: "build history limit must be greater than 0", path: `spec.${limit}` }] : [];
}

const nameErrors = (name: string): FieldError[] =>
  name.length <= maxName
    ? []
    : [
        {
          message: `invalid image name: ${name}, name must be a valid label`,
          path: "metadata.name",
          details: `must be no more than ${maxName} characters`,
        },
      ];
