/** Reads a kpack Build. Pure. */
import type { Build, KpackCondition } from "@denrei/functions/paas/kinds/kpack";
import { kpack } from "@denrei/functions/paas/names";
import type { Stored } from "denrei/kinds";
import type { Tone } from "../ui/status.tsx";
import { buildsText as text } from "./text.ts";

/** The number of a build among those of its Image. */
export const numberOf = ({ metadata }: Build): number => Number(metadata.labels?.[kpack.buildNumber] ?? 0);

/** Sorts builds, newest first. */
export const newestFirst = (builds: readonly Stored<Build>[]): readonly Stored<Build>[] =>
  builds.toSorted(
    (a, b) =>
      (b.metadata.creationTimestamp ?? "").localeCompare(a.metadata.creationTimestamp ?? "") ||
      numberOf(b) - numberOf(a),
  );

/** Why kpack started the build: https://github.com/buildpacks-community/kpack/blob/v0.17.2/docs/build.md */
export const reasonOf = ({ metadata }: Build): string =>
  (metadata.annotations?.[kpack.reason] ?? "")
    .split(",")
    .map((reason) => text.reasons[reason] ?? reason.toLowerCase())
    .join(", ");

const succeeded = ({ status }: Build): KpackCondition | undefined =>
  status?.conditions?.find(({ type }) => type === "Succeeded");

/** The result of a build. */
export function resultOf(build: Build): readonly [Tone, string] {
  const { status } = succeeded(build) ?? {};
  if (status === "True") return ["good", text.results.succeeded];
  if (status === "False") return ["bad", text.results.failed];
  return build.status?.podName === undefined ? ["off", text.results.waiting] : ["busy", text.results.running];
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
