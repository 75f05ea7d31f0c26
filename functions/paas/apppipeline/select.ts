/** Selects the pull requests that get a preview, from GitHub's list and earlier decisions. Pure. */
import type { PullRequest } from "denrei/github";
import { timeText } from "denrei/kinds";
import { matchesGlob } from "denrei/values";
import type { AppPipeline, Preview } from "../kinds/apppipeline.ts";
import { millisOf } from "../kinds/fields.ts";
import { type Approval, hasLabel } from "./approval.ts";
import { plainText } from "./plaintext.ts";

/** What describes a pull request to users. Nothing is decided by it. */
type Description = Pick<Preview, "title" | "author" | "pullRequestURL" | "openedAt" | "updatedAt">;

/** A pull request that may get a preview. */
export type Candidate = Pick<
  Preview,
  "number" | "headSHA" | "headRef" | "baseRef" | "fork" | "since" | "slug" | keyof Approval
> &
  Description;

const kept = [
  ...(["number", "headSHA", "headRef", "baseRef", "fork", "since", "slug"] as const),
  ...(["title", "author", "pullRequestURL", "openedAt", "updatedAt"] as const),
  ...(["labeled", "approvedSHA", "approvedBy", "approvedWith", "approvedAt"] as const),
  ...(["approvalProblem", "headSeenAt"] as const),
] as const satisfies readonly (keyof Candidate)[];

/** The candidate in a preview's status. */
export const candidateIn = (preview: Preview): Candidate =>
  Object.fromEntries(
    kept.flatMap((name) => (preview[name] === undefined ? [] : [[name, preview[name]]])),
  ) as unknown as Candidate;

/** A candidate, and whether it gets a preview. */
export interface Selected extends Candidate {
  readonly state: "shown" | "Waiting" | "NeedsApproval" | "Expired" | "Excluded";
}

export const defaultApprovalLabel = "preview-approved";

type Spec = AppPipeline["spec"];

/** The full name of the repository that a pull request comes from; undefined for the pipeline's own. */
function forkOf({ head, base }: PullRequest): string | undefined {
  if (head.repository?.toLowerCase() === base.repository.toLowerCase()) return undefined;
  return head.repository ?? "a deleted repository";
}

function matchesFilter(
  { labels, draft, base }: PullRequest,
  { labels: required = [], baseBranches, drafts = true }: NonNullable<Spec["filter"]>,
): boolean {
  if (draft && !drafts) return false;
  if (!required.every((label) => hasLabel(labels, label))) return false;
  return baseBranches === undefined || baseBranches.some((glob) => matchesGlob(glob, base.ref));
}

const selectedBy = (pulls: readonly PullRequest[], { filter = {} }: Spec): PullRequest[] =>
  pulls.filter(
    (pull) => matchesFilter(pull, filter) && (filter.forks !== "Never" || forkOf(pull) === undefined),
  );

/** The pull requests that need an approval. */
export const toApprove = (pulls: readonly PullRequest[], spec: Spec): PullRequest[] =>
  (spec.filter?.forks ?? "Approved") === "Approved"
    ? selectedBy(pulls, spec).filter((pull) => forkOf(pull) !== undefined)
    : [];

const longestTitle = 120;
/** GitHub's logins are shorter. */
const longestAuthor = 60;

/**
 * Describes a pull request as of a listing. `updatedAt` changes with every comment, and causes no write of its own: the status that
 * records a listing is written anyway.
 */
const descriptionOf = ({ title, author, url, createdAt, updatedAt }: PullRequest): Description => ({
  title: plainText(title, longestTitle),
  ...(author !== undefined && { author: plainText(author, longestAuthor) }),
  pullRequestURL: url,
  openedAt: timeText(createdAt),
  updatedAt: timeText(updatedAt),
});

/** The candidates of a listing. `approvals`: of the pull requests that {@link toApprove} returns, by number. */
export const candidatesOf = (
  pulls: readonly PullRequest[],
  spec: Spec,
  before: readonly Candidate[],
  approvals: ReadonlyMap<number, Approval>,
  now: Date,
): Candidate[] => {
  const known = new Map(before.map((preview) => [preview.number, preview]));
  return selectedBy(pulls, spec).map((pull) => {
    const { number, head, base } = pull;
    const fork = forkOf(pull);
    const last = known.get(number);
    return {
      number,
      ...descriptionOf(pull),
      headSHA: head.sha,
      headRef: head.ref,
      baseRef: base.ref,
      since: last?.headSHA === head.sha ? last.since : timeText(now),
      ...(fork !== undefined && { fork }),
      ...approvals.get(number),
    };
  });
};

/**
 * Decides which candidates are shown: they must be approved, neither excluded nor expired, and `maxPreviews` limits their number.
 */
export function selected(
  candidates: readonly Candidate[],
  { filter = {}, ttl, maxPreviews = Number.POSITIVE_INFINITY }: Spec,
  /** Numbers of pull requests that have a preview. They keep it before others get one. */
  shown: ReadonlySet<number>,
  now: Date,
): Selected[] {
  const { forks = "Approved", excluded = [] } = filter;
  const judged = candidates.map((candidate): Selected => {
    if (excluded.includes(candidate.number)) return { ...candidate, state: "Excluded" };
    const needsApproval =
      candidate.fork !== undefined && forks === "Approved" && candidate.approvedSHA === undefined;
    const expired = ttl !== undefined && now.getTime() >= expiryOf(candidate, ttl);
    return { ...candidate, state: needsApproval ? "NeedsApproval" : expired ? "Expired" : "shown" };
  });
  const turn = judged
    .filter(({ state }) => state === "shown")
    .sort((a, b) => Number(shown.has(b.number)) - Number(shown.has(a.number)) || a.number - b.number);
  const late = new Set(turn.slice(maxPreviews).map(({ number }) => number));
  return judged
    .map((one): Selected => (late.has(one.number) ? { ...one, state: "Waiting" } : one))
    .sort((a, b) => a.number - b.number);
}

/** When a preview expires, in milliseconds since the epoch. */
export const expiryOf = ({ since }: Pick<Candidate, "since">, ttl: string): number =>
  Date.parse(since) + millisOf(ttl);

/** When the previews expire. */
export const endsOf = (previews: readonly Selected[], { ttl }: Pick<Spec, "ttl">): number[] =>
  ttl === undefined
    ? []
    : previews
        .filter(({ state }) => state === "shown" || state === "Waiting")
        .map((preview) => expiryOf(preview, ttl));
