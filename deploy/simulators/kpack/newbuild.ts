/** The Build that kpack v0.17.2 creates for an Image. Not simulated: notary and priority classes. */
import { controllerReference, type Stored } from "denrei/kinds";
import { type BuildInputs, type Change, resolvedSource } from "./changes.ts";
import type { Build, BuildSpec, Image } from "./kinds.ts";
import { buildName } from "./names.ts";
import { parseTag, repositoryOf } from "./reference.ts";
import { conditionOf } from "./status.ts";

/** Labels of Builds and their pods. */
export const labels = {
  image: "image.kpack.io/image",
  buildNumber: "image.kpack.io/buildNumber",
  imageGeneration: "image.kpack.io/imageGeneration",
} as const;

/** Annotations of Builds and their pods. */
export const annotations = {
  reason: "image.kpack.io/reason",
  changes: "image.kpack.io/buildChanges",
  builderName: "image.kpack.io/builderName",
  builderKind: "image.kpack.io/builderKind",
} as const;

/** Creates the Build with that number, for these reasons. */
export function newBuild(inputs: BuildInputs, number: number, changes: readonly Change[]): Build {
  const { image, builder } = inputs;
  const { namespace = "", name, generation } = image.metadata;
  return {
    apiVersion: image.apiVersion,
    kind: "Build",
    metadata: {
      namespace,
      name: buildName(name, number),
      labels: {
        ...image.metadata.labels,
        [labels.buildNumber]: String(number),
        [labels.image]: name,
        [labels.imageGeneration]: String(generation),
      },
      annotations: {
        ...image.metadata.annotations,
        [annotations.reason]: changes.map(({ reason }) => reason).join(","),
        [annotations.changes]: JSON.stringify(changes),
        [annotations.builderName]: builder.metadata.name,
        // kpack reads the kind from its informer, where it is empty.
        [annotations.builderKind]: "",
      },
      ownerReferences: [controllerReference(image)],
    },
    spec: specOf(inputs, number),
  };
}

function specOf(inputs: BuildInputs, number: number): BuildSpec {
  const { image, builder, sourceResolver } = inputs;
  const { build = {}, cache, serviceAccountName = "default" } = image.spec;
  const lastBuild = lastBuilt(inputs.lastBuild);
  const more = {
    env: build.env,
    services: build.services,
    projectDescriptorPath: image.spec.projectDescriptorPath,
    lastBuild,
    cosign: image.spec.cosign,
    defaultProcess: image.spec.defaultProcess,
    tolerations: build.tolerations,
    nodeSelector: build.nodeSelector,
    affinity: build.affinity,
    runtimeClassName: build.runtimeClassName,
    schedulerName: build.schedulerName,
    activeDeadlineSeconds: build.buildTimeout,
    creationTime: build.creationTime,
  };
  return {
    tags: tagsOf(image, number),
    builder: { image: builder.status?.latestImage ?? "" },
    runImage: { image: builder.status?.stack?.runImage ?? "" },
    serviceAccountName,
    source: resolvedSource(sourceResolver),
    cache: {
      ...(cache?.volume?.size && {
        volume: {
          ...(image.status?.buildCacheName && { persistentVolumeClaimName: image.status.buildCacheName }),
        },
      }),
      ...(cache?.registry?.tag && { registry: cache.registry }),
    },
    resources: build.resources ?? {},
    ...(Object.fromEntries(
      Object.entries(more).filter(([, value]) => value !== undefined),
    ) as Partial<BuildSpec>),
  };
}

/** The tag, the same tag with number and time (UTC) unless the strategy is None, and the additional tags. */
export function tagsOf({ spec }: Pick<Image, "spec">, number: number, now = new Date()): string[] {
  const { tag, additionalTags = [], imageTaggingStrategy } = spec;
  if (imageTaggingStrategy === "None") return [tag, ...additionalTags];
  const own = parseTag(tag)?.tag ?? "latest";
  const [date, time] = now.toISOString().replace(/[-:]/g, "").split(/[T.]/);
  const numbered = `${own === "latest" ? "" : `${own}-`}b${number}.${date}.${time}`;
  return [tag, `${repositoryOf(tag)}:${numbered}`, ...additionalTags];
}

/** A failed Build passes on its own `lastBuild`. */
function lastBuilt(build: Stored<Build> | undefined): BuildSpec["lastBuild"] {
  const { status } = conditionOf(build, "Succeeded") ?? {};
  if (build === undefined || status === "False") return build?.spec.lastBuild;
  return {
    ...(build.status?.latestImage && { image: build.status.latestImage }),
    cache: {},
    ...(build.status?.stack?.id && { stackId: build.status.stack.id }),
  };
}
