/** The conditions of an Image, with the messages of kpack v0.17.2. */
import type { Stored } from "denrei/kinds";
import type { Build, Builder, Condition, Image, SourceResolver } from "./kinds.ts";
import { condition, conditionOf } from "./status.ts";

/** Whether a builder is ready, according to an up-to-date status. */
export const isReady = ({ metadata, status }: Builder): boolean =>
  status?.observedGeneration === metadata.generation && conditionOf({ status }, "Ready")?.status === "True";

/** Whether a SourceResolver has resolved its current spec. */
export const isResolved = ({ metadata, status }: SourceResolver): boolean =>
  status?.observedGeneration === metadata.generation && conditionOf({ status }, "Ready")?.status === "True";

/** The only condition while the builder does not exist. The namespace is the spec's, which is usually empty. */
export const builderNotFound = ({ spec: { builder } }: Image): Condition[] => [
  condition(
    "Ready",
    "False",
    "BuilderNotFound",
    `Error: Unable to find builder '${builder.name}' in namespace '${builder.namespace ?? ""}'.`,
  ),
];

/** Conditions while a Build runs: Ready repeats the Build's message. */
export function buildRunning(build: Stored<Build>, builder: Builder): Condition[] {
  const succeeded = conditionOf(build, "Succeeded");
  const message = succeeded === undefined ? executing(build) : succeeded.message;
  return [condition("Ready", "Unknown", "BuildRunning", message), ...builderConditions(builder)];
}

/** Conditions right after a Build was created. */
export const buildScheduled = (build: Build, builder: Builder): Condition[] => [
  condition("Ready", "Unknown", "BuildRunning", executing(build)),
  ...builderConditions(builder),
];

/** Conditions when no Build is needed, or when that is still unknown. */
export function notScheduled(
  builder: Builder,
  sourceResolver: SourceResolver,
  build: Stored<Build> | undefined,
): Condition[] {
  return [readiness(builder, sourceResolver, build), ...builderConditions(builder)];
}

function readiness(
  builder: Builder,
  sourceResolver: SourceResolver,
  build: Stored<Build> | undefined,
): Condition {
  if (!isReady(builder)) return condition("Ready", "False", "BuilderNotReady", notReady(builder));
  if (!isResolved(sourceResolver)) {
    const message = `Error: SourceResolver '${sourceResolver.metadata.name}' is not ready`;
    return condition("Ready", "Unknown", "ResolverNotReady", message);
  }
  const succeeded = conditionOf(build, "Succeeded");
  if (succeeded?.status === "True") return condition("Ready", "True", "UpToDate", succeeded.message);
  const { name, namespace } = build?.metadata ?? { name: "" };
  const message = `Error: Build '${name}' in namespace '${namespace}' failed: ${succeeded?.message ?? ""}`;
  return condition("Ready", succeeded?.status ?? "Unknown", "BuildFailed", message);
}

function builderConditions(builder: Builder): Condition[] {
  const upToDate = conditionOf(builder, "UpToDate")?.status === "True";
  return [
    isReady(builder)
      ? condition("BuilderReady", "True", "BuilderReady")
      : condition("BuilderReady", "False", "BuilderNotReady", notReady(builder)),
    upToDate
      ? condition("BuilderUpToDate", "True", "BuilderUpToDate")
      : condition(
          "BuilderUpToDate",
          "False",
          "BuilderNotUpToDate",
          "Builder is not up to date. The latest stack and buildpacks may not be in use.",
        ),
  ];
}

const executing = ({ metadata }: Build): string => `Build '${metadata.name}' is executing`;

function notReady(builder: Builder): string {
  const { name, namespace = "" } = builder.metadata;
  const { message } = conditionOf(builder, "Ready") ?? {};
  return `Error: Builder '${name}' is not ready in namespace '${namespace}'${message ? `; Message: ${message}` : ""}`;
}
