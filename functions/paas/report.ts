/**
 * Tells GitHub of previews: a status of the last commit, a deployment, and one comment that is edited. What was told is
 * noted in the pipeline's status, and nothing is told twice.
 */
import { blockedBy } from "../../bus/github/blocked.ts";
import { GitHubError } from "../../bus/github/errors.ts";
import type { ConditionUpdate } from "../../bus/kube/conditions.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import { type Context, defineFunction } from "../../bus/worker/function.ts";
import { repositoryOf } from "./github.ts";
import { AppPipeline, type Preview } from "./kinds.ts";
import { closingPieces, type Notes, type Piece, piecesOf, type Telling } from "./report/pieces.ts";
import { siteOf } from "./site/site.ts";

type Pipeline = Stored<AppPipeline>;

/** Whoever deletes a pipeline does not wait longer than this for GitHub. Milliseconds. */
const goodbyeMillis = 60_000;
const againMillis = 5000;

export default defineFunction({
  name: "modoki-report",
  fieldManager: "modoki-report",
  for: AppPipeline,
  secondary: true,
  async reconcile(pipeline, ctx) {
    const previews = pipeline.status?.previews;
    // Nobody has listed them yet, so nothing is known to be gone either.
    if (previews === undefined) return undefined;
    const trouble = await tell(pipeline, previews, ctx);
    return trouble && { requeueAfter: trouble.retryAfterMillis };
  },
  async finalize(pipeline, ctx) {
    const trouble = await tell(pipeline, [], ctx);
    if (trouble === undefined) return undefined;
    const since = Date.now() - Date.parse(pipeline.metadata.deletionTimestamp ?? "");
    if (passes(trouble) && since < goodbyeMillis) return { requeueAfter: againMillis };
    ctx.log.warn({ err: trouble }, "GitHub is not told that the previews are gone");
    return undefined;
  },
});

/** GitHub comes back by itself: until then it is asked for nothing else either. */
const passes = ({ reason }: BlockedError): boolean =>
  reason === "GitHubUnreachable" || reason === "RateLimited";

/** Tells what is new, and notes it, also when not all can be told: why not, is what it resolves with. */
async function tell(
  pipeline: Pipeline,
  previews: readonly Preview[],
  ctx: Context,
): Promise<BlockedError | undefined> {
  const all = new Map<number, Notes>(
    (pipeline.status?.reports ?? []).map((report) => [report.number, { ...report }]),
  );
  const open = new Set(previews.map(({ number }) => number));
  const news = new Map<number, readonly Piece[]>();
  for (const preview of previews) {
    const notes = all.get(preview.number) ?? { number: preview.number };
    all.set(preview.number, notes);
    news.set(preview.number, piecesOf(pipeline, preview, notes));
  }
  const gone = [...all.values()].filter(({ number }) => !open.has(number));
  for (const notes of gone) news.set(notes.number, closingPieces(pipeline, notes));
  const pieces = [...news.values()].flat();
  const trouble = pieces.length === 0 ? undefined : await tellPieces(pieces, pipeline, ctx);
  for (const { number } of gone) if (trouble === undefined || !passes(trouble)) all.delete(number);
  if (pieces.length > 0 || gone.length > 0) {
    const reports = [...all.values()].sort((a, b) => a.number - b.number);
    await ctx.status(AppPipeline, pipeline, { reports }, [reportedAs(trouble)]);
  }
  return trouble;
}

/** What is refused keeps nothing else from being told. */
async function tellPieces(
  pieces: readonly Piece[],
  pipeline: Pipeline,
  ctx: Context,
): Promise<BlockedError | undefined> {
  let trouble: BlockedError | undefined;
  try {
    const { config } = await siteOf(ctx);
    const { client } = await repositoryOf(pipeline.spec.base.github, config.github.url, ctx);
    const telling: Telling = { pipeline, client, signal: ctx.signal };
    for (const piece of pieces) {
      ctx.assertOwned();
      try {
        await piece.tell(telling);
      } catch (error) {
        if (!(error instanceof GitHubError)) throw error;
        trouble = blockedBy(error, "Token");
        if (passes(trouble)) break;
      }
    }
  } catch (error) {
    if (!(error instanceof BlockedError)) throw error;
    trouble = error;
  }
  return trouble;
}

const reportedAs = (trouble: BlockedError | undefined): ConditionUpdate => ({
  type: "Reported",
  status: trouble ? "False" : "True",
  reason: trouble?.reason ?? "Reported",
  message: trouble?.message ?? "",
});
