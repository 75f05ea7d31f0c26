/** The account that builds run as and kpack's Image, kept as they are wanted. */
import { refusalReasonOf } from "../../../bus/kube/blocker.ts";
import { covers } from "../../../bus/kube/covers.ts";

import { controllerOf, type Stored } from "../../../bus/kube/object.ts";
import { ServiceAccount } from "../../../bus/kube/workloads.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { credentialsOf } from "../credentials.ts";
import { expectAllowed, githubUrlOf } from "../github.ts";
import { Image } from "../kinds/kpack.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { patience } from "../problems.ts";
import type { Config } from "../site/config.ts";
import { accountFields, accountWish, isNoted } from "./account.ts";
import { accountNameOf, imageNameOf, wantedImage } from "./image.ts";
import { checkSecrets } from "./secrets.ts";

type Sync = Stored<RemoteSync>;

/** kpack's webhooks come back by themselves. Milliseconds. */
const awayMillis = 10_000;

/** The Image as it is wanted, after the account; undefined while an Image with another tag is going. */
export async function keepImage(
  sync: Sync,
  revision: string,
  config: Config,
  ctx: Context,
): Promise<Stored<Image> | undefined> {
  const found = await ctx.read.get(Image, imageNameOf(sync));
  const url = await cloneUrl(sync, revision, found, config, ctx);
  const wanted = wantedImage({ sync, revision, url, builder: config.builder });
  const account = await accountOf(sync, ctx);
  // Nothing is asked of kpack that it would give up for good.
  if (!covers(found?.spec, wanted.spec) || !isNoted(account, accountWish(sync)))
    await checkSecrets(sync, ctx);
  await keepAccount(account, sync, ctx);
  const isOurs = found !== undefined && controllerOf(found)?.uid === sync.metadata.uid;
  if (isOurs && found.spec.tag !== wanted.spec.tag) {
    // Until what it owns is gone: kpack would take that for the new one's.
    if (found.metadata.deletionTimestamp === undefined)
      await taken(() => ctx.delete(Image, found, { propagation: "Foreground" }));
    return undefined;
  }
  return taken(() => ctx.apply(Image, wanted));
}

/** Reasons for which a Secret cannot be read now. */
const unread: readonly string[] = ["SecretNotFound", "SecretAccessDenied"];

/**
 * Where the repository is cloned from. A revision that is there already does without the Secret, but what is allowed may have changed
 * since.
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

/** Makes a write that kpack's webhooks have a say in. Throws a `BlockedError` when it is refused. */
export async function taken<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    const { message } = error as Error;
    const millis = reason === "KpackUnavailable" ? awayMillis : patience;
    throw new BlockedError(reason, `expected kpack to take the Image, found: ${message}`, millis, {
      cause: error,
    });
  }
}

/** The Image's own webhooks are kpack's, so what they do says something about kpack. */
const kpackReasons: Readonly<Record<string, string>> = {
  AdmissionWebhookUnavailable: "KpackUnavailable",
  AdmissionDenied: "ImageRefused",
  Invalid: "ImageRefused",
  KindNotInstalled: "KpackNotInstalled",
};

function reasonOf(error: unknown): string | undefined {
  const reason = refusalReasonOf(error);
  return reason && (kpackReasons[reason] ?? reason);
}

/** The account, if it is there; one that is somebody else's is not. */
async function accountOf(sync: Sync, { read, live }: Context): Promise<Stored<ServiceAccount> | undefined> {
  const name = accountNameOf(sync);
  const found = (await read.get(ServiceAccount, name)) ?? (await live.get(ServiceAccount, name));
  return found && controllerOf(found)?.uid === sync.metadata.uid ? found : undefined;
}

async function keepAccount(
  found: Stored<ServiceAccount> | undefined,
  sync: Sync,
  ctx: Context,
): Promise<void> {
  const fields = accountFields(found, accountWish(sync));
  if (found !== undefined) {
    await ctx.patch(ServiceAccount, found, fields);
    return;
  }
  const metadata = { ...fields.metadata, name: accountNameOf(sync) };
  await ctx.create(ServiceAccount, { ...fields, spec: undefined, metadata });
}
