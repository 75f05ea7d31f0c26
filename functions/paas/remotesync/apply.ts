/** Applies the build ServiceAccount and kpack's Image. */
import {
  BlockedError,
  type Context,
  controllerOf,
  matchesDesired,
  ServiceAccount,
  type Stored,
} from "denrei";
import { credentialsOf } from "../credentials.ts";
import { expectAllowed, githubUrlOf } from "../github.ts";
import { Image } from "../kinds/kpack.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { annotations } from "../names.ts";
import type { Config } from "../site/config.ts";
import { accountFields, desiredAccount, isNoted } from "./account.ts";
import { accountNameOf, desiredImage, imageNameOf } from "./image.ts";
import { writeToKpack } from "./kpackwrite.ts";
import { checkSecrets } from "./secrets.ts";
import { applyPlan, planOf } from "./settings.ts";
import type { Progress } from "./status.ts";

type Sync = Stored<RemoteSync>;

/** Why there is no Image at the moment. */
export type ReplacedReason = "another tag" | "recreated";

/** Applies the account, then the Image. Returns the Image, or why the previous one is being deleted. */
export async function applyImage(
  sync: Sync,
  revision: string,
  config: Config,
  ctx: Context,
  progress: Progress,
): Promise<Stored<Image> | ReplacedReason> {
  const found = await ctx.read.get(Image, imageNameOf(sync));
  const url = await cloneUrl(sync, revision, found, config, ctx);
  const desired = desiredImage({ sync, revision, url, builder: config.builder });
  const account = await accountOf(sync, ctx);
  const isOurs = found !== undefined && controllerOf(found)?.uid === sync.metadata.uid;
  const ours = isOurs ? found : undefined;
  const plan = await planOf(sync, desired, ours, ctx);
  // Check first: kpack gives up permanently on a build that lacks a Secret.
  if (
    !matchesDesired(found?.spec, plan.variants[plan.first]?.spec) ||
    !isNoted(account, desiredAccount(sync))
  )
    await checkSecrets(sync, ctx);
  await applyAccount(account, sync, ctx);
  return (
    (await replaceImage(sync, ours, desired.spec.tag, ctx, progress)) ??
    applyPlan(sync, plan, ours, ctx, progress)
  );
}

async function replaceImage(
  { metadata, status }: Sync,
  found: Stored<Image> | undefined,
  tag: string,
  ctx: Context,
  progress: Progress,
): Promise<ReplacedReason | undefined> {
  const asked = metadata.annotations?.[annotations.recreateImage] ?? "";
  const isAsked = asked !== (status?.imageRecreated ?? "");
  const isNew = isAsked && asked !== "";
  const isGoing = found?.metadata.deletionTimestamp !== undefined;
  const hasOtherTag = found !== undefined && found.spec.tag !== tag;
  // The foreground deletion ends when its dependents are deleted: kpack would take those for the new Image's.
  if (found && !isGoing && (hasOtherTag || isNew))
    await writeToKpack(() => ctx.delete(Image, found, { propagation: "Foreground" }));
  if (isAsked) progress.status.imageRecreated = asked;
  if (found && !isGoing && isNew)
    ctx.event("Normal", "ImageRecreated", `deleted kpack's Image ${found.metadata.name} to create it again`);
  if (hasOtherTag) return "another tag";
  return found && (isGoing || isNew) ? "recreated" : undefined;
}

/** Reasons why a Secret cannot be read at the moment. */
const unread: readonly string[] = ["SecretNotFound", "SecretAccessDenied"];

/**
 * The clone URL of the repository. A revision that the Image already has needs no Secret, but its URL must still be allowed.
 */
async function cloneUrl(
  { spec }: Sync,
  revision: string,
  image: Stored<Image> | undefined,
  config: Config,
  ctx: Context,
): Promise<string> {
  const { owner, repo, secretName } = spec.base.github;
  const path = `/${owner}/${repo}`;
  try {
    return githubUrlOf(await credentialsOf(secretName, "git", ctx), config.github) + path;
  } catch (error) {
    const git = image?.spec.source.git;
    const isKnown = git?.revision === revision && git.url.endsWith(path);
    if (!isKnown || !(error instanceof BlockedError) || !unread.includes(error.reason)) throw error;
    const where = `spec.source.git.url of the Image ${image?.metadata.name}`;
    return expectAllowed(git.url.slice(0, -path.length), config.github, where) + path;
  }
}

/** The account, if the RemoteSync controls it. */
async function accountOf(sync: Sync, { read, live }: Context): Promise<Stored<ServiceAccount> | undefined> {
  const name = accountNameOf(sync);
  const found = (await read.get(ServiceAccount, name)) ?? (await live.get(ServiceAccount, name));
  return found && controllerOf(found)?.uid === sync.metadata.uid ? found : undefined;
}

async function applyAccount(
  found: Stored<ServiceAccount> | undefined,
  sync: Sync,
  ctx: Context,
): Promise<void> {
  const fields = accountFields(found, desiredAccount(sync));
  if (found !== undefined) {
    await ctx.patch(ServiceAccount, found, fields);
    return;
  }
  const metadata = { ...fields.metadata, name: accountNameOf(sync) };
  await ctx.create(ServiceAccount, { ...fields, metadata });
}
