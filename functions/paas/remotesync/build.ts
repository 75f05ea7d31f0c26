/** Second step of a RemoteSync: has kpack build an image of the revision. */
import { BlockedError, type Context, controllerOf, type Stored } from "denrei";
import { Build, Image } from "../kinds/kpack.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import type { Config } from "../site/config.ts";
import { applyImage } from "./apply.ts";
import { isObserved, numberOf, outcomeOf } from "./builds.ts";
import { judge } from "./builtcondition.ts";
import { noteFailure, retry } from "./failure.ts";
import { imageNameOf } from "./image.ts";
import { stalledText } from "./stalled.ts";
import { type Progress, setStep, warn } from "./status.ts";

/** Reasons why kpack refuses the Image. They matter less once the desired revision has been built. */
const kpackReasons: readonly string[] = ["ImageRefused", "KpackUnavailable", "KpackNotInstalled"];

const notObserved = "ImageNotObserved";

/** The image of the revision in the status: its Build may no longer exist. */
const recordedImage = ({ status }: RemoteSync, revision: string): string | undefined =>
  status?.latestImageRevision === revision ? status.latestImage : undefined;

/**
 * Has the revision built, and returns its newest image, if any. Throws a `BlockedError` when something that kpack needs is
 * missing.
 */
export async function build(
  sync: Stored<RemoteSync>,
  revision: string,
  config: Config,
  ctx: Context,
  progress: Progress,
): Promise<string | undefined> {
  progress.status.imageName = imageNameOf(sync);
  // Retries are counted per revision.
  if (sync.status?.revision !== revision) progress.status.retries = null;
  const recorded = recordedImage(sync, revision);
  const image = await applyImage(sync, revision, config, ctx, progress).catch((error: unknown) => {
    if (recorded && error instanceof BlockedError && kpackReasons.includes(error.reason)) return error;
    throw error;
  });
  if (image instanceof BlockedError) {
    setStep(progress, "Built", "True", image.reason, `${recorded} stays deployed: ${image.message}`);
    warn(progress, image);
    return recorded;
  }
  if (typeof image === "string") {
    setStep(progress, "Built", "Unknown", "ImageReplaced", `recreating kpack's Image: ${image}`);
    // An image in another repository does not belong to this RemoteSync.
    if (image === "another tag")
      Object.assign(progress.status, { latestImage: null, latestImageRevision: null });
    return undefined;
  }
  const builds = (await ctx.read.children(Build, image)).filter(
    (one) => controllerOf(one)?.uid === image.metadata.uid,
  );
  const outcome = outcomeOf(builds, revision, recorded);
  const { newest, kept, state } = outcome;
  const failure =
    newest !== undefined && (state === "failed" || state === "infrastructure")
      ? await noteFailure(sync, newest, kept ? "RebuildFailed" : "BuildFailed", ctx, progress)
      : undefined;
  // The bus does not have kpack's messages, such as problems of its builder.
  const isLive = newest === undefined || !isObserved(image);
  const known = (isLive && (await ctx.live.get(Image, image.metadata.name))) || image;
  const stalled = stalledText(sync, known, ctx);
  const judged = judge(outcome, known, failure);
  const { status, reason, message } =
    stalled && judged.reason === "Queued" ? { ...judged, reason: notObserved, message: stalled } : judged;
  setStep(progress, "Built", status, reason, message);
  if (status === "True" && reason !== "Succeeded") progress.warnings.push({ reason, message });
  if (stalled) progress.warnings.push({ reason: notObserved, message: stalled });
  progress.status.buildRef = newest?.metadata.name ?? null;
  progress.status.buildNumber = newest ? numberOf(newest) : null;
  progress.status.latestImage = kept?.image ?? null;
  progress.status.latestImageRevision = kept ? revision : null;
  if (state === "succeeded" || state === "failed") progress.status.retries = null;
  if (state === "infrastructure") {
    await retry(sync, outcome, ctx, progress).catch((error: unknown) => {
      if (kept === undefined || !(error instanceof BlockedError)) throw error;
      warn(progress, error);
    });
  }
  return kept?.image;
}
