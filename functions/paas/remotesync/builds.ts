/**
 * What the Builds of a revision have come to. An Image's own status may speak of another Build than the one that is wanted,
 * for as long as that takes; a Build is known by its owner, its revision and its number. Pure.
 */
import type { Stored } from "../../../bus/kube/object.ts";
import type { Build, Image, KpackCondition } from "../kinds/kpack.ts";
import { kpack } from "../names.ts";

/** An image of the wanted revision, and the Build that made it, for people. */
export interface KeptImage {
  readonly image: string;
  readonly madeBy: string;
}

/** What there is to know about the Builds of one revision. */
export interface Outcome {
  /** The newest of the revision. */
  readonly newest: Stored<Build> | undefined;
  /** The newest of the revision that made an image. */
  readonly succeeded: Stored<Build> | undefined;
  /** The newest image of the revision, also when its Build no longer exists. */
  readonly kept: KeptImage | undefined;
  readonly state: "none" | "running" | "succeeded" | "failed" | "infrastructure";
  /** All that were read, of any revision, oldest first. */
  readonly all: readonly Stored<Build>[];
  /** The newest is the newest of all: it can be had again. */
  readonly canBeRetried: boolean;
}

export const numberOf = ({ metadata }: Stored<Build>): number =>
  Number(metadata.labels?.[kpack.buildNumber] ?? 0);

/** The generation of the Image that a Build was made for. */
export const generationOf = ({ metadata }: Build): number =>
  Number(metadata.labels?.["image.kpack.io/imageGeneration"] ?? 0);

const conditionOf = (
  conditions: readonly KpackCondition[] | undefined,
  type: string,
): KpackCondition | undefined => conditions?.find((condition) => condition.type === type);

const succeededOf = ({ status }: Build): KpackCondition | undefined =>
  conditionOf(status?.conditions, "Succeeded");

/** Why kpack has made a Build: CONFIG, COMMIT, STACK and so on. */
export const reasonsOf = ({ metadata }: Build): readonly string[] =>
  (metadata.annotations?.[kpack.reason] ?? "").split(",");

function stateOf(build: Stored<Build>): Outcome["state"] {
  const { status, reason } = succeededOf(build) ?? {};
  if (status === "True" && build.status?.latestImage) return "succeeded";
  if (status !== "False") return "running";
  // No pod was ever made of it: it is not the code that is wrong.
  return reason === undefined && build.status?.podName === undefined ? "infrastructure" : "failed";
}

/** Judges the Builds of an Image. `recorded`: the image of the revision that the status has. */
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
 * Whether kpack has decided about the current Image, and the Build that it has started for it, if any, is among those that were
 * read: the events of an Image can arrive before those of its Build.
 */
export function isDecided(image: Stored<Image>, { all }: Pick<Outcome, "all">): boolean {
  const { conditions, latestImage } = image.status ?? {};
  const reason = conditionOf(conditions, "Ready")?.reason;
  if (!isObserved(image) || reason === "ResolverNotReady") return false;
  if (reason === "BuildRunning") return all.some((build) => stateOf(build) === "running");
  return latestImage === undefined || all.some(({ status }) => status?.latestImage === latestImage);
}

const steps = ["prepare", "analyze", "detect", "restore", "build", "export", "completion"];
/** Of a Build that only moves the image to another stack. */
const rebaseSteps = ["rebase", "completion"];

/** The step that runs, or the one that has failed. */
export function stepOf(build: Stored<Build>): string | undefined {
  const named = /Container (\S+) terminated/.exec(succeededOf(build)?.message ?? "")?.[1];
  if (named !== undefined) return named;
  const { stepsCompleted = [], podName } = build.status ?? {};
  const all = reasonsOf(build).join() === "STACK" ? rebaseSteps : steps;
  return podName === undefined ? undefined : all.find((step) => !stepsCompleted.includes(step));
}

/** Why a Build has failed. */
export interface Failure {
  readonly message: string;
  readonly step: string | undefined;
}

/** Why a Build has failed, in its own words. */
export const failureOf = (build: Stored<Build>): Failure => ({
  message: (succeededOf(build)?.message ?? "").replace(/^Error:\s*/, "") || "it says not why",
  step: stepOf(build),
});

/** What keeps an Image from having a Build of its revision, in its own words. */
export function waitingFor({ status }: Image): { readonly reason: string; readonly message: string } {
  const { reason, message } = conditionOf(status?.conditions, "Ready") ?? {};
  switch (reason) {
    case "BuilderNotFound":
    case "BuilderNotReady":
      return { reason, message: `kpack has no builder: ${message ?? "it says not why"}` };
    case "BuildRunning":
      return { reason: "Queued", message: "another build of the Image is to end first" };
    default:
      return { reason: "Queued", message: "kpack is yet to start a build" };
  }
}
