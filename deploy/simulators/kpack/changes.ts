/** What makes kpack v0.17.2 build an Image again, compared with its last Build. Left out: service bindings of v1alpha1. */
import { isDeepStrictEqual } from "node:util";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Build, Builder, BuildpackMetadata, Image, Source, SourceResolver } from "./kinds.ts";
import { conditionOf } from "./status.ts";

/** One reason to build, as it is written into the annotation `image.kpack.io/buildChanges`. */
export interface Change {
  readonly reason: "TRIGGER" | "COMMIT" | "CONFIG" | "BUILDPACK" | "STACK" | "LIFECYCLE";
  readonly old: unknown;
  readonly new: unknown;
}

/** On the latest Build, whatever its value: builds once more. */
export const buildNeeded = "image.kpack.io/additionalBuildNeeded";

/** What a Build is made from. */
export interface Ingredients {
  readonly image: Stored<Image>;
  readonly lastBuild: Stored<Build> | undefined;
  readonly sourceResolver: Stored<SourceResolver>;
  readonly builder: Stored<Builder>;
}

/** The source that a SourceResolver has found, as a Build has it. Fields are in kpack's order, for the text that shows them. */
export function resolvedSource({ status, spec }: SourceResolver): Source {
  const { git } = status?.source ?? {};
  if (git === undefined) return spec.source;
  const { url, revision, subPath, initializeSubmodules } = git;
  return {
    git: { url, revision, ...(initializeSubmodules && { initializeSubmodules }) },
    ...(subPath && { subPath }),
  };
}

/** Every reason to build, in kpack's order. None means that the Image is up to date. */
export function changesOf(made: Ingredients, now = new Date()): Change[] {
  const { lastBuild } = made;
  const built = conditionOf(lastBuild, "Succeeded")?.status === "True" ? lastBuild : undefined;
  return [
    ...triggers(lastBuild, now),
    ...commits(made),
    ...configs(made),
    ...(built ? buildpacks(built, made.builder) : []),
    ...(built
      ? differing("STACK", built.status?.stack?.runImage, made.builder.status?.stack?.runImage, digestOf)
      : []),
    ...(built
      ? differing("LIFECYCLE", built.status?.lifecycleVersion, made.builder.status?.lifecycle?.version)
      : []),
  ];
}

function triggers(lastBuild: Stored<Build> | undefined, now: Date): Change[] {
  if (lastBuild?.metadata.annotations?.[buildNeeded] === undefined) return [];
  const time = now.toUTCString().replace("GMT", "+0000");
  return [{ reason: "TRIGGER", old: "", new: `A new build was manually triggered on ${time}` }];
}

const commits = ({ lastBuild, sourceResolver }: Ingredients): Change[] =>
  lastBuild?.spec.source.git === undefined || sourceResolver.status?.source?.git === undefined
    ? []
    : differing("COMMIT", lastBuild.spec.source.git.revision, sourceResolver.status.source.git.revision);

function configs({ image, lastBuild, sourceResolver }: Ingredients): Change[] {
  const { env, services, resources = {} } = image.spec.build ?? {};
  const config = (parts: Pick<Build["spec"], "env" | "services" | "resources">, source: Source) => ({
    ...(parts.env?.length && { env: parts.env }),
    resources: parts.resources,
    ...(parts.services?.length && { services: parts.services }),
    source,
  });
  const before = config(lastBuild?.spec ?? { resources: {} }, lastBuild?.spec.source ?? ({} as Source));
  const after = config({ env, services, resources }, resolvedSource(sourceResolver));
  return isDeepStrictEqual(unrevised(before), unrevised(after))
    ? []
    : [{ reason: "CONFIG", old: before, new: after }];
}

/** The revision is a COMMIT, not a CONFIG. */
function unrevised(config: { source: Source }): unknown {
  const { git, ...source } = config.source;
  return JSON.parse(
    JSON.stringify({ ...config, source: { ...source, ...(git && { git: { ...git, revision: "" } }) } }),
  );
}

/** Buildpacks of the last Build that the builder has no more, or not in that version. */
function buildpacks({ status }: Build, builder: Builder): Change[] {
  const isThere = ({ id, version }: BuildpackMetadata) =>
    builder.status?.builderMetadata?.some((one) => one.id === id && one.version === version);
  const old = (status?.buildMetadata ?? []).filter((one) => !isThere(one));
  return old.length === 0
    ? []
    : [{ reason: "BUILDPACK", old: old.map(({ id, version }) => ({ id, version })), new: null }];
}

function differing(
  reason: Change["reason"],
  before: string | undefined,
  after: string | undefined,
  identity = (text: string): string => text,
): Change[] {
  return identity(before ?? "") === identity(after ?? "") ? [] : [{ reason, old: before, new: after }];
}

/** A run image that is copied elsewhere is the same one. */
const digestOf = (image: string): string => image.slice(image.indexOf("@") + 1);
