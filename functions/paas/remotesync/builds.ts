/**
 * The state of a revision's Builds. An Image's status may be about another Build than the desired one for a while, so Builds are
 * identified by owner, revision, and number. Pure.
 */
import type { Stored } from "denrei";
import type { Build, Image, KpackCondition } from "../kinds/kpack.ts";
import { kpack } from "../names.ts";

/** An image of the desired revision, and the Build that made it, as text for the user. */
export interface KeptImage {
  readonly image: string;
  readonly madeBy: string;
}

/** The Builds of one revision. */
export interface Outcome {
  /** Newest Build of the revision. */
  readonly newest: Stored<Build> | undefined;
  /** Newest Build of the revision that made an image. */
  readonly succeeded: Stored<Build> | undefined;
  /** Newest image of the revision, even if its Build no longer exists. */
  readonly kept: KeptImage | undefined;
  readonly state: "none" | "running" | "succeeded" | "failed" | "infrastructure";
  /** All Builds that were read, of any revision, oldest first. */
  readonly all: readonly Stored<Build>[];
  /** Whether `newest` is the newest of all Builds, so that kpack can repeat it. */
  readonly canBeRetried: boolean;
}

export const numberOf = ({ metadata }: Stored<Build>): number =>
  Number(metadata.labels?.[kpack.buildNumber] ?? 0);

/** The generation of the Image that caused a Build. */
export const generationOf = ({ metadata }: Build): number =>
  Number(metadata.labels?.["image.kpack.io/imageGeneration"] ?? 0);

const conditionOf = (
  conditions: readonly KpackCondition[] | undefined,
  type: string,
): KpackCondition | undefined => conditions?.find((condition) => condition.type === type);

const succeededOf = ({ status }: Build): KpackCondition | undefined =>
  conditionOf(status?.conditions, "Succeeded");

/** Why kpack created a Build: CONFIG, COMMIT, STACK, and so on. */
export const reasonsOf = ({ metadata }: Build): readonly string[] =>
  (metadata.annotations?.[kpack.reason] ?? "").split(",");

function stateOf(build: Stored<Build>): Outcome["state"] {
  const { status, reason } = succeededOf(build) ?? {};
  if (status === "True" && build.status?.latestImage) return "succeeded";
  if (status !== "False") return "running";
  // No pod was ever created, so the code is not at fault.
  return reason === undefined && build.status?.podName === undefined ? "infrastructure" : "failed";
}

/** Evaluates the Builds of an Image. `recorded`: the revision's image in the status. */
export function outcomeOf(
  builds: readonly Stored<Build>[],
  revision: string,
  recorded?: string | undefined,
): Outcome {
  const all = [...builds].sort((a, b) => numberOf(a) - numberOf(b));
  const ofRevision = all.filter(({ spec }) => spec.source?.git?.revision === revision);
  const newest = ofRevision.at(-1);
  const succeeded = ofRevision.findLast((build) => stateOf(build) === "succeeded");
  return {
    newest,
    succeeded,
    kept: keptBy(succeeded) ?? (recorded ? { image: recorded, madeBy: "an earlier build" } : undefined),
    state: newest === undefined ? "none" : stateOf(newest),
    all,
    canBeRetried:
      newest !== undefined &&
      newest === all.at(-1) &&
      newest.metadata.annotations?.[kpack.rebuild] === undefined,
  };
}

function keptBy(build: Stored<Build> | undefined): KeptImage | undefined {
  const image = build?.status?.latestImage;
  return build && image ? { image, madeBy: `build ${numberOf(build)}` } : undefined;
}

/** Whether the status is about the current generation of the Image. */
export const isObserved = ({ metadata, status }: Stored<Image>): boolean =>
  status?.observedGeneration === metadata.generation;

/**
 * Whether kpack has decided about the current Image, and the Build that it started, if any, has been read: events of an Image can
 * arrive before those of its Build.
 */
export function isDecided(image: Stored<Image>, { all }: Pick<Outcome, "all">): boolean {
  const { conditions, latestImage } = image.status ?? {};
  const reason = conditionOf(conditions, "Ready")?.reason;
  if (!isObserved(image) || reason === "ResolverNotReady") return false;
  if (reason === "BuildRunning") return all.some((build) => stateOf(build) === "running");
  return latestImage === undefined || all.some(({ status }) => status?.latestImage === latestImage);
}

const steps = ["prepare", "analyze", "detect", "restore", "build", "export", "completion"];
/** Steps of a Build that only moves the image to another stack. */
const rebaseSteps = ["rebase", "completion"];

/** The running step, or the failed one. */
export function stepOf(build: Stored<Build>): string | undefined {
  const named = /Container (\S+) terminated/.exec(succeededOf(build)?.message ?? "")?.[1];
  if (named !== undefined) return named;
  const { stepsCompleted = [], podName } = build.status ?? {};
  const all = reasonsOf(build).join() === "STACK" ? rebaseSteps : steps;
  return podName === undefined ? undefined : all.find((step) => !stepsCompleted.includes(step));
}

/** Why a Build failed. */
export interface Failure {
  readonly message: string;
  readonly step: string | undefined;
}

/** The failure that a Build reports. */
export const failureOf = (build: Stored<Build>): Failure => ({
  message: (succeededOf(build)?.message ?? "").replace(/^Error:\s*/, "") || "no reason given",
  step: stepOf(build),
});

/** Why an Image has no Build of its revision yet, as kpack reports it. */
export function waitingReason({ status }: Image): { readonly reason: string; readonly message: string } {
  const { reason, message } = conditionOf(status?.conditions, "Ready") ?? {};
  switch (reason) {
    case "BuilderNotFound":
    case "BuilderNotReady":
      return { reason, message: `kpack has no builder: ${message ?? "no reason given"}` };
    case "BuildRunning":
      return { reason: "Queued", message: "waiting for another build of the Image" };
    default:
      return { reason: "Queued", message: "waiting for kpack to start a build" };
  }
}
