/**
 * AppPipeline: an Application and a RemoteSync for each open pull request of a repository. It lists pull requests only when they
 * may have changed. The status holds GitHub's last answer, from which the previews follow.
 */
import {
  BlockedError,
  blockedByRefusal,
  type ConditionUpdate,
  type Context,
  defineFunction,
  github,
  type Kind,
  type NewChild,
  type Stored,
} from "denrei";
import { apiTokenPermissions } from "../ghapp/apitoken.ts";
import { previewEvents } from "./apppipeline/events.ts";
import { list } from "./apppipeline/listing.ts";
import { previewName } from "./apppipeline/names.ts";
import { previewObjects } from "./apppipeline/objects.ts";
import { previewOf } from "./apppipeline/preview.ts";
import { endsOf, type Selected, selected } from "./apppipeline/select.ts";
import { withSlugs } from "./apppipeline/slug.ts";
import { repositoryIndex, tokenIndexes, tokenWatches } from "./apppipeline/watches.ts";
import { findAll, keysOfMove, keysOfWebhook } from "./identity.ts";
import { Application, AppPipeline, type Preview, RemoteSync } from "./kinds.ts";
import { retryMillis } from "./retry.ts";
import type { HostPattern } from "./site/config.ts";
import { siteOf } from "./site/site.ts";

type Pipeline = Stored<AppPipeline>;

/** Number of previews whose objects are written concurrently. */
const batch = 10;
/** Shorter delays are not worth a timer. Milliseconds. */
const shortestPause = 1000;

export default defineFunction({
  name: "modoki-apppipeline",
  fieldManager: "modoki-apppipeline",
  for: AppPipeline,
  owns: [Application, RemoteSync],
  indexes: {
    ...tokenIndexes,
    repository: repositoryIndex,
  },
  watches: tokenWatches,
  permissions: apiTokenPermissions,
  webhooks: [
    github.on("pull_request", {
      keys: ({ owner, repository, data }, find) =>
        findAll(find, "repository", keysOfWebhook(owner, repository, data.repository.id)),
    }),
    github.on("repository", {
      keys: ({ owner, repository, data }, find) =>
        findAll(find, "repository", keysOfMove(owner, repository, data)),
    }),
  ],
  sweepMillis: 300_000,
  outbound: { github: true },
  async reconcile(pipeline, ctx) {
    const now = new Date(ctx.now());
    const { candidates, condition, status, nextAt, failure } = await list(pipeline, now, ctx);
    if (candidates === undefined) {
      await ctx.status(AppPipeline, pipeline, { ...status, message: condition.message }, [
        condition,
        readyOf(condition, undefined),
      ]);
      throw failure;
    }
    const pattern = await patternOf(pipeline, condition, ctx);
    const previews = withSlugs(
      selected(candidates, pipeline.spec, shownBefore(pipeline), now),
      pipeline.status?.previews ?? [],
    );
    const failures = await applyPreviews(pipeline, previews, pattern, ctx);
    await deletePreviews(pipeline, previews, ctx);
    const statuses = await previewStatuses(pipeline, previews, { failures, pattern }, ctx);
    for (const { type, reason, note } of previewEvents(pipeline.status?.previews ?? [], statuses))
      ctx.event(type, reason, note);
    const [refused] = failures.values();
    const first = failure ?? refused;
    await ctx.status(
      AppPipeline,
      pipeline,
      {
        ...status,
        previews: statuses,
        open: statuses.filter(isExpected).length,
        message: first?.message ?? "",
      },
      [condition, readyOf(condition, refused)],
    );
    const untilNext = Math.min(nextAt, ...endsOf(previews, pipeline.spec)) - now.getTime();
    const requeueAfter = Math.max(shortestPause, untilNext);
    if (first === undefined) return { requeueAfter };
    const { reason, message, retryAfterMillis } = first;
    throw new BlockedError(reason, message, Math.min(retryAfterMillis, requeueAfter), { cause: first });
  },
});

/** The site's pattern for hosts of previews. Throws a `BlockedError` when the settings of the site are invalid. */
async function patternOf(pipeline: Pipeline, listed: ConditionUpdate, ctx: Context): Promise<HostPattern> {
  try {
    return (await siteOf(ctx)).config.previews.hosts;
  } catch (error) {
    if (!(error instanceof BlockedError)) throw error;
    const { reason, message } = error;
    const ready = { type: "Ready", status: "False", reason, message } as const;
    await ctx.status(AppPipeline, pipeline, { message }, [listed, ready]);
    throw error;
  }
}

const shownBefore = ({ status }: Pipeline): ReadonlySet<number> =>
  new Set(
    status?.previews?.filter(({ application }) => application !== undefined).map(({ number }) => number),
  );

/** Whether a pull request has or awaits a preview. */
const isExpected = ({ phase }: Preview): boolean => phase !== "Excluded";

const isShown = ({ state }: Selected): boolean => state === "shown";

/** Applies the objects of the previews that are shown. Returns the errors by pull request number. */
async function applyPreviews(
  pipeline: Pipeline,
  previews: readonly Selected[],
  pattern: HostPattern,
  ctx: Context,
): Promise<ReadonlyMap<number, BlockedError>> {
  const failures = new Map<number, BlockedError>();
  const shown = previews.filter(isShown);
  for (let at = 0; at < shown.length; at += batch) {
    const ends = await Promise.allSettled(
      shown.slice(at, at + batch).map(async (preview) => {
        const { application, remoteSync } = previewObjects(pipeline, preview, pattern);
        try {
          await applyPart(Application, application, ctx);
          await applyPart(RemoteSync, remoteSync, ctx);
        } catch (error) {
          if (!(error instanceof BlockedError)) throw error;
          failures.set(preview.number, error);
        }
      }),
    );
    // Wait for all of the batch: a write that is still in flight would race with the next attempt.
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }
  return failures;
}

/** Applies an object of a preview. Throws a `BlockedError` if the API server rejects it. */
async function applyPart<T extends Application | RemoteSync>(
  kind: Kind<T>,
  child: NewChild<T>,
  ctx: Context,
): Promise<void> {
  try {
    await ctx.apply(kind, child);
  } catch (error) {
    if (error instanceof BlockedError) throw error;
    throw blockedByRefusal(error, (_, message) => ({
      reason: "PreviewRefused",
      message: `Kubernetes rejected the ${kind.kind} ${child.metadata.name}: ${message}`,
      retryAfterMillis: retryMillis,
    }));
  }
}

/**
 * Deletes the objects of previews that are no longer shown. The propagation is `Foreground`, so an object exists until its
 * dependents are deleted, and the preview of a reopened pull request never finds old ones.
 */
async function deletePreviews(
  pipeline: Pipeline,
  previews: readonly Selected[],
  ctx: Context,
): Promise<void> {
  const { name } = pipeline.metadata;
  const shown = new Set(previews.filter(isShown).map(({ number }) => previewName(name, number)));
  for (const kind of [RemoteSync, Application] as readonly Kind[]) {
    for (const child of await ctx.read.children(kind)) {
      if (!shown.has(child.metadata.name) && child.metadata.deletionTimestamp === undefined)
        await ctx.delete(kind, child, { propagation: "Foreground" });
    }
  }
}

async function previewStatuses(
  pipeline: Pipeline,
  previews: readonly Selected[],
  {
    failures,
    pattern,
  }: { readonly failures: ReadonlyMap<number, BlockedError>; readonly pattern: HostPattern },
  ctx: Context,
): Promise<Preview[]> {
  const byName = <T extends Stored>(objects: readonly T[]) =>
    new Map(objects.map((object) => [object.metadata.name, object]));
  const applications = byName(await ctx.read.children(Application));
  const remoteSyncs = byName(await ctx.read.children(RemoteSync));
  const before = new Map(pipeline.status?.previews?.map((preview) => [preview.number, preview]));
  return previews.map((preview) => {
    const name = previewName(pipeline.metadata.name, preview.number);
    return previewOf(pipeline, preview, {
      application: applications.get(name),
      remoteSync: remoteSyncs.get(name),
      failure: failures.get(preview.number),
      before: before.get(preview.number),
      pattern,
    });
  });
}

function readyOf(listed: ConditionUpdate, refused: BlockedError | undefined): ConditionUpdate {
  const type = "Ready";
  if (listed.status !== "True") return { ...listed, type };
  if (refused) return { type, status: "False", reason: refused.reason, message: refused.message };
  const { reason, message } = listed;
  return { type, status: "True", reason, message };
}
