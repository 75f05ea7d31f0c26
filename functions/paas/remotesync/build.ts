/** The second step of a RemoteSync: an image of the revision, by kpack. */
import { ApiError, isForbidden, isInvalid, isNotFound } from "../../../bus/kube/errors.ts";
import { controllerOf, type Stored } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { githubUrlOf, secretOf } from "../github.ts";
import { Build, Image, rebuildAnnotation, ServiceAccount } from "../kinds/kpack.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { patience } from "../problems.ts";
import type { Config } from "../site/config.ts";
import { accountFields, accountWish } from "./account.ts";
import { failureText, numberOf, type Outcome, outcomeOf, stepOf, waitingFor } from "./builds.ts";
import { accountNameOf, imageNameOf, wantedImage } from "./image.ts";
import { checkSecrets } from "./secrets.ts";
import { type Said, say } from "./status.ts";

type Sync = Stored<RemoteSync>;

/** kpack tells Builds apart by the second of their creation. Milliseconds. */
const apartMillis = 2000;
const firstRetryMillis = 10_000;
const longestRetryMillis = 600_000;
const logLines = 50;

/** An image of the revision, if there is one; and when to look again. */
export interface Built {
  readonly image: string | undefined;
  readonly requeueAfter?: number;
}

/** Sees to it that the revision is built. Throws a `BlockedError` when something is missing that kpack needs. */
export async function build(
  sync: Sync,
  revision: string,
  config: Config,
  ctx: Context,
  said: Said,
): Promise<Built> {
  const image = await keepImage(sync, revision, config, ctx);
  said.status.imageName = imageNameOf(sync);
  if (image === undefined) {
    say(
      said,
      "Built",
      "Unknown",
      "ImageReplaced",
      "kpack's Image is made anew, for another repository of images",
    );
    return { image: undefined };
  }
  const builds = (await ctx.read.children(Build, image)).filter(
    (one) => controllerOf(one)?.uid === image.metadata.uid,
  );
  const outcome = outcomeOf(builds, revision);
  const { newest, succeeded } = outcome;
  said.status.buildRef = newest?.metadata.name ?? null;
  said.status.buildNumber = newest ? numberOf(newest) : null;
  said.status.latestImage = succeeded?.status?.latestImage ?? null;
  const requeueAfter = await judge(sync, image, outcome, ctx, said);
  return { image: succeeded?.status?.latestImage, ...(requeueAfter !== undefined && { requeueAfter }) };
}

/** The account and the Image as they are wanted; undefined while an Image of another tag is going. */
async function keepImage(
  sync: Sync,
  revision: string,
  config: Config,
  ctx: Context,
): Promise<Stored<Image> | undefined> {
  const found = await ctx.read.get(Image, imageNameOf(sync));
  // Nothing is asked of kpack that it would give up for good.
  if (found?.spec.source.git.revision !== revision) await checkSecrets(sync, ctx);
  await keepAccount(sync, ctx);
  const { owner, repo, secretName } = sync.spec.base.github;
  const git = found?.spec.source.git;
  const host =
    git?.revision === revision && git.url.endsWith(`/${owner}/${repo}`)
      ? git.url.slice(0, -`/${owner}/${repo}`.length)
      : githubUrlOf(await secretOf(secretName, ctx), config.github.url);
  const wanted = wantedImage({ sync, revision, url: `${host}/${owner}/${repo}`, builder: config.builder });
  if (found !== undefined && found.spec.tag !== wanted.spec.tag) {
    // Until what it owns is gone: kpack would take that for the new one's.
    if (found.metadata.deletionTimestamp === undefined)
      await ctx.delete(Image, found, { propagation: "Foreground" });
    return undefined;
  }
  try {
    return await ctx.apply(Image, wanted);
  } catch (error) {
    throw refusalOf(error);
  }
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const reason = isInvalid(error)
    ? "ImageRefused"
    : isNotFound(error)
      ? "KpackNotInstalled"
      : isForbidden(error)
        ? "Forbidden"
        : undefined;
  if (reason === undefined) return error;
  return new BlockedError(reason, `expected kpack to take the Image, found: ${error.message}`, patience, {
    cause: error,
  });
}

async function keepAccount(sync: Sync, ctx: Context): Promise<void> {
  const name = accountNameOf(sync);
  const found = (await ctx.read.get(ServiceAccount, name)) ?? (await ctx.live.get(ServiceAccount, name));
  const fields = accountFields(found, accountWish(sync));
  if (found === undefined || controllerOf(found)?.uid !== sync.metadata.uid) {
    await ctx.create(ServiceAccount, { ...fields, spec: undefined, metadata: { ...fields.metadata, name } });
    return;
  }
  await ctx.patch(ServiceAccount, found, fields);
}

/** Says what the Builds have come to; milliseconds until it is to be looked at again. */
async function judge(
  sync: Sync,
  image: Stored<Image>,
  outcome: Outcome,
  ctx: Context,
  said: Said,
): Promise<number | undefined> {
  const { newest, succeeded, state } = outcome;
  if (succeeded !== undefined && newest !== undefined) {
    said.status.retries = null;
    const again = newest === succeeded ? "" : `; build ${numberOf(newest)} is newer`;
    say(
      said,
      "Built",
      "True",
      "Succeeded",
      `build ${numberOf(succeeded)} made ${succeeded.status?.latestImage}${again}`,
    );
    if (state === "failed") await noteFailure(sync, newest, ctx, said);
    return undefined;
  }
  if (newest === undefined) {
    const { reason, message } = waitingFor(image);
    say(said, "Built", "Unknown", reason, message);
    return undefined;
  }
  if (state === "running") {
    const step = stepOf(newest);
    say(said, "Built", "Unknown", "Building", `build ${numberOf(newest)}${step ? `: ${step}` : ""}`);
    return undefined;
  }
  await noteFailure(sync, newest, ctx, said);
  const step = stepOf(newest);
  const message = `build ${numberOf(newest)} failed${step ? ` in the step ${step}` : ""}: ${failureText(newest)}`;
  if (state === "failed") {
    say(said, "Built", "False", "BuildFailed", message);
    return undefined;
  }
  say(said, "Built", "False", "BuildNotStarted", `${message}. It is tried again.`);
  return retry(sync, outcome, newest, ctx, said);
}

/** Has a Build again that no pod was ever made of. */
async function retry(
  sync: Sync,
  { canBeRetried }: Outcome,
  newest: Stored<Build>,
  ctx: Context,
  said: Said,
): Promise<number | undefined> {
  if (!canBeRetried) return undefined;
  const retries = sync.status?.retries ?? 0;
  const pause =
    retries === 0 ? apartMillis : Math.min(longestRetryMillis, firstRetryMillis * 2 ** (retries - 1));
  const since = Date.now() - Date.parse(newest.metadata.creationTimestamp ?? "");
  // A clock that is behind must not keep it from ever being tried.
  const left = Math.min(pause, Math.max(0, pause + apartMillis - since));
  if (left > 0) return left;
  said.status.retries = retries + 1;
  await ctx.patch(Build, newest, {
    metadata: { annotations: { [rebuildAnnotation]: new Date().toISOString() } },
  });
  return undefined;
}

/** Keeps what is known of a failure, with the end of the log while there is one: Builds and their pods go in time. */
async function noteFailure(sync: Sync, failed: Stored<Build>, ctx: Context, said: Said): Promise<void> {
  const { name, uid } = failed.metadata;
  if (sync.status?.lastFailure?.uid === uid) return;
  const step = stepOf(failed);
  const message = failureText(failed);
  const pod = failed.status?.podName;
  const log =
    pod !== undefined && step !== undefined
      ? await ctx.live.podLog(pod, { container: step, lines: logLines })
      : undefined;
  said.status.lastFailure = {
    build: name,
    uid,
    revision: failed.spec.source?.git?.revision ?? "",
    message,
    time: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
    ...(step !== undefined && { step }),
    ...(log && { log: log.slice(-16_000) }),
  };
  ctx.event(
    "Warning",
    "BuildFailed",
    `${name}${step ? ` in the step ${step}` : ""}: ${message}`.slice(0, 1000),
  );
}
