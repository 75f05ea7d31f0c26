/**
 * Reports previews to GitHub: a status of the last commit, a deployment, and one comment that is edited. The pipeline's status
 * records what was reported, so nothing is reported twice.
 */
import {
  BlockedError,
  type Cause,
  type ConditionUpdate,
  type Context,
  defineFunction,
  github,
  isConflict,
  type Result,
  type Stored,
  timeText,
} from "denrei";
import { apiTokenPermissions } from "../ghapp/apitoken.ts";
import { hasNewCredentials, repositoryIndex, tokenIndexes, tokenWatches } from "./apppipeline/watches.ts";
import { findAll, keysOfWebhook, knownAs } from "./identity.ts";
import type { KnownRepository } from "./kinds/fields.ts";
import { AppPipeline, type Preview } from "./kinds.ts";
import { dropDeleted, numbersText, portionOf } from "./report/closing.ts";
import { contextOf } from "./report/names.ts";
import type { Piece } from "./report/piece.ts";
import { piecesOf } from "./report/pieces.ts";
import { type Notes, type Report, unrefused } from "./report/record.ts";
import { delaysDeletion, sendPieces } from "./report/send.ts";

type Pipeline = Stored<AppPipeline>;

const deletionRetryMillis = 5000;
/** GitHub asks clients to pause between writes. https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api */
const pauseMillis = 1000;

export default defineFunction({
  name: "modoki-report",
  fieldManager: "modoki-report",
  for: AppPipeline,
  secondary: true,
  indexes: { ...tokenIndexes, repository: repositoryIndex },
  watches: tokenWatches,
  webhooks: [
    github.on("pull_request", {
      keys: ({ owner, repository, data }, find) =>
        data.action === "unlocked"
          ? findAll(find, "repository", keysOfWebhook(owner, repository, data.repository.id))
          : [],
    }),
  ],
  permissions: [
    ...apiTokenPermissions,
    // Its uid identifies the cluster.
    { apiGroups: [""], resources: ["namespaces"], resourceNames: ["kube-system"], verbs: ["get"] },
  ],
  // Retries of refused reports are timers, which the bus can lose when their stream is full.
  sweepMillis: 1_800_000,
  outbound: { github: true },
  async reconcile(pipeline, ctx) {
    const previews = pipeline.status?.previews;
    // Without a list of this repository, an absent preview may still exist.
    if (previews === undefined || repositoryIn(pipeline) === undefined) return undefined;
    const left = Date.parse(pipeline.status?.nextReportAt ?? "") - ctx.now();
    if (left > 0 && !hasNewCredentials(ctx.causes)) return { requeueAfter: left };
    return (await report(pipeline, previews, ctx)).result;
  },
  async finalize(pipeline, ctx) {
    const { stopped, unreported, result } = await report(pipeline, [], ctx);
    if (stopped === undefined) return result;
    const since = ctx.now() - Date.parse(pipeline.metadata.deletionTimestamp ?? "");
    if (delaysDeletion(stopped, since)) return { requeueAfter: deletionRetryMillis };
    if (unreported.length > 0)
      ctx.event("Warning", incomplete, `${notReported(unreported)}. Not retried: ${stopped.message}`);
    ctx.log.warn({ err: stopped }, "giving up, GitHub shows deleted previews");
  },
});

/** The reason of Events about failed reports. */
const incomplete = "ReportIncomplete";

const notReported = (numbers: readonly number[]): string =>
  `GitHub did not accept the report that previews were deleted (${numbersText(numbers)})`;

/** The repository of the previews; undefined until those of `spec.base.github` have been listed. */
const repositoryIn = ({ spec, status }: Pipeline): KnownRepository | undefined =>
  knownAs(spec.base.github, status?.repository);

/** Outcome of a round of reports, and the delay until the next. */
interface ReportResult {
  readonly stopped?: BlockedError | undefined;
  /** Pull requests with unfinished reports. */
  readonly unreported: readonly number[];
  readonly result: Result | undefined;
}

/** Sends a portion of the pending reports and records them, also when some fail. */
async function report(pipeline: Pipeline, previews: readonly Preview[], ctx: Context): Promise<ReportResult> {
  const now = new Date(ctx.now());
  const context = await contextOf(pipeline, ctx).catch(blocked);
  if (context instanceof BlockedError) return recordBlocked(pipeline, context, now, ctx);
  const subject = { pipeline, context };
  const isDeleted = pipeline.metadata.deletionTimestamp !== undefined;
  // GitHub may accept refused reports with another token or an unlocked conversation. A deleted pipeline has no later chance.
  const isAsked = isDeleted || hasNewCredentials(ctx.causes) || isUnlocked(ctx.causes);
  const all = notesOf(pipeline, previews, isAsked ? Number.POSITIVE_INFINITY : now.getTime(), ctx);
  const pieces = piecesOf(subject, previews, all, now);
  const portion = portionOf(pieces);
  const outcome = await sendPieces(portion, subject, ctx);
  const { stopped, refused } = outcome;
  const open = new Set(previews.map(({ number }) => number));
  const { postponed, givenUp } = dropDeleted(all, open, subject, outcome, now);
  const why = [...refused].find(([number]) => !open.has(number))?.[1].message;
  if (postponed.length > 0)
    ctx.event("Warning", incomplete, `${notReported(postponed)}. Retried for a day: ${why}`);
  if (givenUp.length > 0) ctx.event("Warning", incomplete, `${notReported(givenUp)}. Not retried: ${why}`);
  const reports = [...all.values()].sort((a, b) => a.number - b.number);
  const retries = reports.flatMap(({ number, refused = {} }) =>
    Object.values(refused).map((at) => ({ number, at: Date.parse(at) })),
  );
  const isLeft = portion.length < pieces.length;
  // The condition is about previews that run. For deleted ones, Events report refusals.
  const failure = stopped ?? [...refused].find(([number]) => open.has(number))?.[1];
  const isAll = !isLeft && !retries.some(({ number }) => open.has(number));
  const condition = failure || isAll ? reportedAs(pipeline, pieces, failure) : undefined;
  const nextAt = stopped && new Date(now.getTime() + stopped.retryAfterMillis);
  const noted = await recordReports(pipeline, { reports, nextAt, context }, condition, ctx);
  const pauses = [
    ...(noted === "changed meanwhile" ? [0] : []),
    ...(stopped ? [stopped.retryAfterMillis] : isLeft ? [pauseMillis] : []),
    ...retries.map(({ at }) => Math.max(pauseMillis, at - now.getTime())),
  ];
  const result = pauses.length === 0 ? undefined : { requeueAfter: Math.min(...pauses) };
  return { stopped, unreported: reports.map(({ number }) => number), result };
}

function blocked(error: unknown): BlockedError {
  if (error instanceof BlockedError) return error;
  throw error;
}

/** Records why nothing could be reported. */
async function recordBlocked(
  pipeline: Pipeline,
  stopped: BlockedError,
  now: Date,
  ctx: Context,
): Promise<ReportResult> {
  const nextAt = new Date(now.getTime() + stopped.retryAfterMillis);
  const reports = pipeline.status?.reports ?? [];
  await recordReports(pipeline, { reports, nextAt }, reportedAs(pipeline, [], stopped), ctx);
  const unreported = reports.map(({ number }) => number);
  return { stopped, unreported, result: { requeueAfter: stopped.retryAfterMillis } };
}

/** The only webhook of this function is for unlocked conversations. */
const isUnlocked = (causes: readonly Cause[]): boolean => causes.some(({ type }) => type === "webhook");

/** Earlier reports without refusals that are due before `by`, and an empty entry for each new preview. */
function notesOf(
  pipeline: Pipeline,
  previews: readonly Preview[],
  by: number,
  ctx: Pick<Context, "event">,
): Map<number, Notes> {
  const reports = reportsOf(pipeline, ctx);
  const all = new Map<number, Notes>(reports.map((report) => [report.number, unrefused(report, by)]));
  // Leave a final status of an earlier version alone.
  for (const notes of all.values()) if (notes.pendingSHA === undefined) delete notes.status;
  for (const { number } of previews) if (!all.has(number)) all.set(number, { number });
  return all;
}

/** Earlier reports to this repository. Numbers and ids of another repository are meaningless here. */
function reportsOf(pipeline: Pipeline, { event }: Pick<Context, "event">): readonly Report[] {
  const { reports = [], reportedRepository: before } = pipeline.status ?? {};
  const now = repositoryIn(pipeline)?.id;
  if (before === undefined || now === undefined || before === now || reports.length === 0) return reports;
  const numbers = numbersText(reports.map(({ number }) => number));
  event(
    "Warning",
    incomplete,
    `the pipeline now names another repository. Reports to the previous one are no longer updated (${numbers})`,
  );
  return [];
}

/** The condition `Reported`; undefined when there was nothing to report and no earlier failure. */
function reportedAs(
  { status }: Pipeline,
  pieces: readonly Piece[],
  failure: BlockedError | undefined,
): ConditionUpdate | undefined {
  const type = "Reported";
  if (failure) return { type, status: "False", reason: failure.reason, message: failure.message };
  const before = status?.conditions?.find((condition) => condition.type === type);
  if (pieces.length === 0 && before?.status !== "False") return undefined;
  return { type, status: "True", reason: type, message: "" };
}

const maxConflicts = 10;

/**
 * Records the reports in the pipeline's status. Another function writes that status too, so a conflict is retried on the newest
 * version: an unrecorded report would be sent again.
 */
async function recordReports(
  pipeline: Pipeline,
  {
    reports,
    nextAt,
    context,
  }: { readonly reports: readonly Notes[]; readonly nextAt: Date | undefined; readonly context?: string },
  condition: ConditionUpdate | undefined,
  ctx: Context,
): Promise<"noted" | "changed meanwhile"> {
  const nonEmpty = reports.filter((notes) => Object.keys(notes).length > 1);
  const repository = repositoryIn(pipeline);
  // An empty list in place of none would cause a write.
  const status = {
    ...((nonEmpty.length > 0 || pipeline.status?.reports !== undefined) && {
      reports: nonEmpty,
      ...(repository !== undefined && { reportedRepository: repository.id }),
    }),
    ...(context !== undefined && { reportContext: context }),
    nextReportAt: nextAt === undefined ? null : timeText(nextAt),
  } as NonNullable<AppPipeline["status"]>;
  let found: Pipeline | undefined = pipeline;
  for (let conflicts = 0; found?.metadata.uid === pipeline.metadata.uid; conflicts++) {
    try {
      await ctx.status(AppPipeline, found, status, condition && [condition]);
      return conflicts === 0 ? "noted" : "changed meanwhile";
    } catch (error) {
      if (!isConflict(error) || conflicts >= maxConflicts) throw error;
      found = await ctx.live.get(AppPipeline, pipeline.metadata.name);
    }
  }
  return "noted";
}
