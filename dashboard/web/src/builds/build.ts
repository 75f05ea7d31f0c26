/** What a Build of kpack says of itself. */
import type { Stored } from "../../../../bus/kube/object.ts";
import type { Build, KpackCondition } from "../../../../functions/paas/kinds/kpack.ts";
import { kpack } from "../../../../functions/paas/names.ts";
import type { Tone } from "../ui/status.tsx";

/** Its number among those of its Image. */
export const numberOf = ({ metadata }: Build): number => Number(metadata.labels?.[kpack.buildNumber] ?? 0);

/** The newest first. */
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
  TRIGGER: "asked for",
};

/** Why it was made. */
export const reasonOf = ({ metadata }: Build): string =>
  (metadata.annotations?.[kpack.reason] ?? "")
    .split(",")
    .map((reason) => reasons[reason] ?? reason.toLowerCase())
    .join(", ");

const succeeded = ({ status }: Build): KpackCondition | undefined =>
  status?.conditions?.find(({ type }) => type === "Succeeded");

/** What it has come to. */
export function resultOf(build: Build): readonly [Tone, string] {
  const { status } = succeeded(build) ?? {};
  if (status === "True") return ["good", "Succeeded"];
  if (status === "False") return ["bad", "Failed"];
  return build.status?.podName === undefined ? ["off", "Waiting"] : ["busy", "Running"];
}

/** Why it has failed, in kpack's words. */
export const failureOf = (build: Build): string | undefined => {
  const { status, message } = succeeded(build) ?? {};
  return status === "False" ? message : undefined;
};

/** When it ended; undefined while it runs. */
export function endOf(build: Build): string | undefined {
  const { status, lastTransitionTime } = succeeded(build) ?? {};
  return status === "True" || status === "False" ? lastTransitionTime : undefined;
}

/** Whether another one is to be made of the same. */
export const isAskedAgain = ({ metadata }: Build): boolean =>
  metadata.annotations?.[kpack.rebuild] !== undefined;

/** The digest of an image: what stands behind the `@`. */
export const digestOf = (image: string | undefined): string => image?.split("@")[1] ?? "";
