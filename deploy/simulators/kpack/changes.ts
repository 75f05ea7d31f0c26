/** The reasons for which kpack v0.17.2 builds an Image again. Not simulated: service bindings of v1alpha1. */
import { isDeepStrictEqual } from "node:util";
import type { Stored } from "denrei/kinds";
import type { Build, Builder, BuildpackMetadata, Image, Source, SourceResolver } from "./kinds.ts";
import { conditionOf } from "./status.ts";

/** One reason to build, as in the annotation `image.kpack.io/buildChanges`. */
export interface Change {
  readonly reason: "TRIGGER" | "COMMIT" | "CONFIG" | "BUILDPACK" | "STACK" | "LIFECYCLE";
  readonly old: unknown;
  readonly new: unknown;
}

/** Annotation of the latest Build. With any value, it requests another Build. */
export const buildNeeded = "image.kpack.io/additionalBuildNeeded";

/** Inputs of a Build. */
export interface BuildInputs {
  readonly image: Stored<Image>;
  readonly lastBuild: Stored<Build> | undefined;
  readonly sourceResolver: Stored<SourceResolver>;
  readonly builder: Stored<Builder>;
}

/** The resolved source as a Build's spec has it. Fields are in kpack's order, because an annotation shows them as text. */
export function resolvedSource({ status, spec }: SourceResolver): Source {
  const { git } = status?.source ?? {};
  if (git === undefined) return spec.source;
  const { url, revision, subPath, initializeSubmodules } = git;
  return {
    git: { url, revision, ...(initializeSubmodules && { initializeSubmodules }) },
    ...(subPath && { subPath }),
  };
}

/** All reasons to build, in kpack's order; empty when the Image is up to date. */
export function changesOf(inputs: BuildInputs, now = new Date()): Change[] {
  const { lastBuild } = inputs;
  const built = conditionOf(lastBuild, "Succeeded")?.status === "True" ? lastBuild : undefined;
  return [
    ...triggers(lastBuild, now),
    ...commits(inputs),
    ...configs(inputs),
    ...(built ? buildpacks(built, inputs.builder) : []),
    ...(built
      ? differing("STACK", built.status?.stack?.runImage, inputs.builder.status?.stack?.runImage, digestOf)
      : []),
    ...(built
      ? differing("LIFECYCLE", built.status?.lifecycleVersion, inputs.builder.status?.lifecycle?.version)
      : []),
  ];
}

function triggers(lastBuild: Stored<Build> | undefined, now: Date): Change[] {
  if (lastBuild?.metadata.annotations?.[buildNeeded] === undefined) return [];
  const time = now.toUTCString().replace("GMT", "+0000");
  return [{ reason: "TRIGGER", old: "", new: `A new build was manually triggered on ${time}` }];
}

const commits = ({ lastBuild, sourceResolver }: BuildInputs): Change[] =>
  lastBuild?.spec.source.git === undefined || sourceResolver.status?.source?.git === undefined
    ? []
    : differing("COMMIT", lastBuild.spec.source.git.revision, sourceResolver.status.source.git.revision);

function configs({ image, lastBuild, sourceResolver }: BuildInputs): Change[] {
  const { env, services, resources = {} } = image.spec.build ?? {};
  const config = (parts: Pick<Build["spec"], "env" | "services" | "resources">, source: Source) => ({
    ...(parts.env?.length && { env: parts.env }),
    resources: parts.resources,
    ...(parts.services?.length && { services: parts.services }),
    source,
  });
  const before = config(lastBuild?.spec ?? { resources: {} }, lastBuild?.spec.source ?? ({} as Source));
  const after = config({ env, services, resources }, resolvedSource(sourceResolver));
  return isDeepStrictEqual(withoutRevision(before), withoutRevision(after))
    ? []
    : [{ reason: "CONFIG", old: before, new: after }];
}

/** A changed revision is a COMMIT, not a CONFIG. */
function withoutRevision(config: { source: Source }): unknown {
  const { git, ...source } = config.source;
  return JSON.parse(
    JSON.stringify({ ...config, source: { ...source, ...(git && { git: { ...git, revision: "" } }) } }),
  );
}

/** Buildpacks of the last Build that the builder no longer has in that version. */
function buildpacks({ status }: Build, builder: Builder): Change[] {
  const isAvailable = ({ id, version }: BuildpackMetadata) =>
    builder.status?.builderMetadata?.some((one) => one.id === id && one.version === version);
  const old = (status?.buildMetadata ?? []).filter((one) => !isAvailable(one));
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

/** The digest identifies a run image, even when it is copied to another registry. */
const digestOf = (image: string): string => image.slice(image.indexOf("@") + 1);
