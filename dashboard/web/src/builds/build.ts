/** Reads a kpack Build. Pure. */
import type { Build, KpackCondition } from "@denrei/functions/paas/kinds/kpack";
import { kpack } from "@denrei/functions/paas/names";
import type { Stored } from "denrei/kinds";
import type { Tone } from "../ui/status.tsx";

/** The number of a build among those of its Image. */
export const numberOf = ({ metadata }: Build): number => Number(metadata.labels?.[kpack.buildNumber] ?? 0);

/** Sorts builds, newest first. */
export const newestFirst = (builds: readonly Stored<Build>[]): readonly Stored<Build>[] =>
  builds.toSorted(
    (a, b) =>
      (b.metadata.creationTimestamp ?? "").localeCompare(a.metadata.creationTimestamp ?? "") ||
      numberOf(b) - numberOf(a),
  );

/** https://github.com/buildpacks-community/kpack/blob/v0.17.2/docs/build.md */
const reasons: Readonly<Record<string, string>> = {
  CONFIG: "changed settings",
  COMMIT: "new commit",
  BUILDPACK: "new buildpacks",
  STACK: "new stack",
  TRIGGER: "requested",
};

/** Why kpack started the build. */
export const reasonOf = ({ metadata }: Build): string =>
  (metadata.annotations?.[kpack.reason] ?? "")
    .split(",")
    .map((reason) => reasons[reason] ?? reason.toLowerCase())
    .join(", ");

const succeeded = ({ status }: Build): KpackCondition | undefined =>
  status?.conditions?.find(({ type }) => type === "Succeeded");

/** The result of a build. */
export function resultOf(build: Build): readonly [Tone, string] {
  const { status } = succeeded(build) ?? {};
  if (status === "True") return ["good", "Succeeded"];
  if (status === "False") return ["bad", "Failed"];
  return build.status?.podName === undefined ? ["off", "Waiting"] : ["busy", "Running"];
}

/** kpack's error message of a failed build. */
export const failureOf = (build: Build): string | undefined => {
  const { status, message } = succeeded(build) ?? {};
  return status === "False" ? message : undefined;
};

/** When the build ended; undefined while it runs. */
export function endOf(build: Build): string | undefined {
  const { status, lastTransitionTime } = succeeded(build) ?? {};
  return status === "True" || status === "False" ? lastTransitionTime : undefined;
}

/** Whether another build of the same commit was requested. */
export const isRebuildRequested = ({ metadata }: Build): boolean =>
  metadata.annotations?.[kpack.rebuild] !== undefined;
