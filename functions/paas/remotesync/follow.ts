/** First step of a RemoteSync: resolves the desired commit. Asks GitHub only when the commit may have changed. */
import { BlockedError, type Context, type Stored } from "denrei";
import { repositoryOf } from "../github.ts";
import { identified, knownAs, renamed, renameNote } from "../identity.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { annotations, labels } from "../names.ts";
import { retryMillis } from "../retry.ts";
import type { Config } from "../site/config.ts";
import { transientReasons, verdictOf, waitMillis } from "./due.ts";
import { type Resolution, resolve } from "./resolve.ts";
import { type Source, sourceOf, sourceText } from "./source.ts";
import { type Progress, setStep } from "./status.ts";

/** Delay before GitHub is asked again whether a pull request can be merged. It usually knows in a moment. Milliseconds. */
const mergeabilityMillis = { first: 2000, later: 8000 };

/** The commit to continue with, if known. */
export interface ResolvedSource {
  readonly revision: string | undefined;
  /** Thrown after the remaining steps for the revision. */
  readonly blocked?: BlockedError;
}

/** Resolves the desired commit. Returns errors of GitHub, so that the known revision can still be built. */
export async function follow(
  sync: Stored<RemoteSync>,
  site: Config["github"],
  ctx: Context,
  progress: Progress,
): Promise<ResolvedSource> {
  const source = sourceOf(sync);
  const text = sourceText(sync);
  // A revision of another source is void.
  const isSame = sync.status?.source === text;
  const known = isSame ? sync.status?.revision : undefined;
  progress.status.refreshedAt = sync.metadata.annotations?.[annotations.refreshedAt] ?? "";
  progress.status.source = text;
  if (!isSame) Object.assign(progress.status, { revision: null, ref: null, headSHA: null, baseBranch: null });
  if (source.type === "commit") {
    const nothing = { baseBranch: null, headSHA: null, retryAt: null };
    Object.assign(progress.status, { revision: source.sha, ref: "commit", ...nothing });
    setStep(progress, "SourceResolved", "True", "Resolved", `the commit ${source.sha}`);
    return { revision: source.sha };
  }
  const verdict = verdictOf(sync, ctx.causes, ctx.now());
  if (verdict !== "due") {
    const { status, reason, message } = verdict;
    setStep(progress, "SourceResolved", status, reason, message);
    const wait = waitMillis(sync, ctx.now());
    if (wait !== undefined) progress.delays.push(wait);
    const stands = verdict.stands && new BlockedError(reason, message, retryMillis);
    return { revision: known, ...(stands && { blocked: stands }) };
  }
  progress.status.askedHeadSHA = sync.metadata.annotations?.[annotations.headSHA] ?? null;
  try {
    const found = await ask(source, sync, site, ctx);
    return recordResolution(found, known, sync, ctx, progress);
  } catch (error) {
    if (!(error instanceof BlockedError)) throw error;
    return recordError(error, known, sync, ctx, progress);
  }
}

async function ask(
  source: Exclude<Source, { type: "commit" }>,
  { spec }: Stored<RemoteSync>,
  site: Config["github"],
  ctx: Context,
): Promise<Resolution> {
  const client = await repositoryOf(spec.base.github, site, "read", ctx);
  return resolve(source, client, ctx.signal);
}

function askAgain(progress: Progress, millis: number, ctx: Pick<Context, "now">): void {
  progress.status.retryAt = new Date(ctx.now() + millis).toISOString();
  progress.delays.push(millis);
}

function recordResolution(
  found: Resolution,
  known: string | undefined,
  sync: Stored<RemoteSync>,
  ctx: Context,
  progress: Progress,
): ResolvedSource {
  const { headSHA, baseBranch } = found;
  const { github } = sync.spec.base;
  const repository = identified(github, found.repository, sync.status?.repository);
  const note = renameNote(repository, sync.metadata.labels?.[labels.pipeline]);
  if (note !== undefined && knownAs(github, sync.status?.repository)?.fullName !== repository.fullName)
    ctx.event("Warning", renamed, note);
  const facts = { headSHA: headSHA ?? null, baseBranch: baseBranch ?? null, retryAt: null, repository };
  Object.assign(progress.status, facts);
  if (found.state === "resolved") {
    const { revision, ref } = found;
    Object.assign(progress.status, { revision, ref });
    const at = `${ref} is at ${revision}`;
    if (note === undefined) setStep(progress, "SourceResolved", "True", "Resolved", at);
    else setStep(progress, "SourceResolved", "True", renamed, `${at}; ${note}`);
    if (revision !== known) ctx.event("Normal", "RevisionResolved", `${ref} is at ${revision}`);
    return { revision };
  }
  const { state, reason } = found;
  const message = note === undefined ? found.message : `${found.message}; ${note}`;
  setStep(progress, "SourceResolved", state === "pending" ? "Unknown" : "False", reason, message);
  if (state === "pending") {
    const wasPending = sync.status?.conditions?.some((condition) => condition.reason === reason);
    askAgain(progress, mergeabilityMillis[wasPending ? "later" : "first"], ctx);
  }
  return { revision: known };
}

/** Records the error. A transient one does not replace an earlier result. */
function recordError(
  error: BlockedError,
  known: string | undefined,
  sync: Stored<RemoteSync>,
  ctx: Context,
  progress: Progress,
): ResolvedSource {
  const { reason, message } = error;
  if (!transientReasons.has(reason)) {
    progress.status.retryAt = null;
    setStep(progress, "SourceResolved", "False", reason, message);
    return { revision: known, blocked: error };
  }
  ctx.log.warn({ err: error }, "failed to check for a newer revision, retrying");
  const before = sync.status?.conditions?.find(({ type }) => type === "SourceResolved");
  if (known !== undefined && before !== undefined)
    setStep(progress, "SourceResolved", before.status, before.reason, before.message);
  else setStep(progress, "SourceResolved", "Unknown", reason, message);
  askAgain(progress, error.retryAfterMillis, ctx);
  return { revision: known };
}
