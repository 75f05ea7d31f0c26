/** The first step of a RemoteSync: which commit is wanted. GitHub is asked when there is a reason to, and never else. */
import type { Stored } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { repositoryOf } from "../github.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { annotations } from "../names.ts";
import { type Resolution, resolve } from "./resolve.ts";
import { type Source, sourceOf, sourceText } from "./source.ts";
import { type Said, say } from "./status.ts";

/** How soon GitHub is asked again whether a pull request can be merged: it mostly knows in a moment. Milliseconds. */
const mergeabilityMillis = { first: 2000, later: 8000 };

/** The commit to go on with, if any is known; and what is to be done about the source later. */
export interface Followed {
  readonly revision: string | undefined;
  readonly requeueAfter?: number;
  /** Thrown when all that can be done with the revision is done. */
  readonly trouble?: BlockedError;
}

/** Whether GitHub is to be asked. What becomes of builds and applications is no reason to. */
export function isDue(
  { metadata, status, spec }: Stored<RemoteSync>,
  { causes }: Pick<Context, "causes">,
): boolean {
  if (status?.source !== sourceText({ spec } as RemoteSync) || status.revision === undefined) return true;
  if ((metadata.annotations?.[annotations.refreshedAt] ?? "") !== (status.refreshedAt ?? "")) return true;
  if (causes.some(({ type }) => type === "webhook" || type === "replay")) return true;
  // Those of a loop that is slowed down come with what caused it.
  if (causes.every(({ type }) => type === "timer")) return true;
  const resolved = status.conditions?.find(({ type }) => type === "SourceResolved");
  return (
    resolved?.status === "False" && causes.some((cause) => cause.type === "object" && cause.kind === "Secret")
  );
}

/** Finds out which commit is wanted. Throws a `BlockedError` when none is known, and GitHub does not tell. */
export async function follow(
  sync: Stored<RemoteSync>,
  siteUrl: string,
  ctx: Context,
  said: Said,
): Promise<Followed> {
  const source = sourceOf(sync);
  const text = sourceText(sync);
  said.status.refreshedAt = sync.metadata.annotations?.[annotations.refreshedAt] ?? "";
  if (source.type === "commit") {
    Object.assign(said.status, {
      source: text,
      revision: source.sha,
      ref: "commit",
      baseBranch: null,
      headSHA: null,
    });
    say(said, "SourceResolved", "True", "Resolved", `the commit ${source.sha}`);
    return { revision: source.sha };
  }
  // A revision of another source is none of this one.
  const known = sync.status?.source === text ? sync.status.revision : undefined;
  if (!isDue(sync, ctx)) {
    const before = sync.status?.conditions?.find(({ type }) => type === "SourceResolved");
    if (before) say(said, "SourceResolved", before.status, before.reason, before.message);
    return { revision: known };
  }
  try {
    return accept(await ask(source, sync, siteUrl, ctx), { text, known, sync, said, ctx });
  } catch (error) {
    if (!(error instanceof BlockedError) || known === undefined) throw error;
    const passes = error.reason === "GitHubUnreachable" || error.reason === "RateLimited";
    // What passes by itself says nothing about the revision that is known.
    say(
      said,
      "SourceResolved",
      passes ? "True" : "False",
      passes ? "Resolved" : error.reason,
      passes ? "" : error.message,
    );
    if (passes) ctx.log.warn({ err: error }, "not known whether there is a newer revision");
    return { revision: known, ...(passes ? { requeueAfter: error.retryAfterMillis } : { trouble: error }) };
  }
}

async function ask(
  source: Exclude<Source, { type: "commit" }>,
  { spec }: Stored<RemoteSync>,
  siteUrl: string,
  ctx: Context,
): Promise<Resolution> {
  const { client } = await repositoryOf(spec.base.github, siteUrl, ctx);
  return resolve(source, client, ctx.signal);
}

function accept(
  found: Resolution,
  {
    text,
    known,
    sync,
    said,
    ctx,
  }: {
    readonly text: string;
    readonly known: string | undefined;
    readonly sync: Stored<RemoteSync>;
    readonly said: Said;
    readonly ctx: Context;
  },
): Followed {
  const { headSHA, baseBranch } = found;
  Object.assign(said.status, { source: text, headSHA: headSHA ?? null, baseBranch: baseBranch ?? null });
  if (found.state === "resolved") {
    const { revision, ref } = found;
    Object.assign(said.status, { revision, ref });
    say(said, "SourceResolved", "True", "Resolved", `${ref} is at ${revision}`);
    if (revision !== known) ctx.event("Normal", "RevisionResolved", `${ref} is at ${revision}`);
    return { revision };
  }
  const { state, reason, message } = found;
  if (known === undefined) said.status.revision = null;
  say(said, "SourceResolved", state === "pending" ? "Unknown" : "False", reason, message);
  const wasPending = sync.status?.conditions?.some((condition) => condition.reason === reason);
  const pause = mergeabilityMillis[wasPending ? "later" : "first"];
  return { revision: known, ...(state === "pending" && { requeueAfter: pause }) };
}
