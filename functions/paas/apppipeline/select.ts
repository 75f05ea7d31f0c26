/** Which pull requests get a preview. Pure: from what GitHub says, and what was decided before. */

import type { PullRequest } from "../../../bus/github/pullrequest.ts";
import { matchesGlob } from "../../../bus/glob.ts";
import type { AppPipeline, Preview } from "../kinds/apppipeline.ts";
import { millisOf } from "../kinds/fields.ts";

/** A pull request that may have a preview, before anything is known of its objects. */
export type Candidate = Pick<
  Preview,
  "number" | "headSHA" | "headRef" | "baseRef" | "fork" | "labelled" | "approvedSHA" | "since" | "slug"
>;

/** What of a preview is known from the last listing. */
export const candidateIn = ({
  number,
  headSHA,
  headRef,
  baseRef,
  fork,
  labelled,
  approvedSHA,
  since,
}: Preview): Candidate => ({
  number,
  headSHA,
  since,
  ...(headRef !== undefined && { headRef }),
  ...(baseRef !== undefined && { baseRef }),
  ...(fork !== undefined && { fork }),
  ...(labelled !== undefined && { labelled }),
  ...(approvedSHA !== undefined && { approvedSHA }),
});

/** A candidate, and whether it has a preview. */
export interface Selected extends Candidate {
  readonly state: "shown" | "Waiting" | "NeedsApproval" | "Expired";
}

export const defaultApprovalLabel = "preview-approved";

type Spec = AppPipeline["spec"];

/** The full name of the repository that it comes from; undefined where that is the pipeline's own. */
function forkOf({ head, base }: PullRequest): string | undefined {
  if (head.repository?.toLowerCase() === base.repository.toLowerCase()) return undefined;
  return head.repository ?? "a repository that is gone";
}

/** GitHub's labels ignore case. */
const has = (labels: readonly string[], wanted: string): boolean =>
  labels.some((label) => label.toLowerCase() === wanted.toLowerCase());

function isWanted(
  { labels, draft, base }: PullRequest,
  { labels: wanted = [], baseBranches, drafts = true }: NonNullable<Spec["filter"]>,
): boolean {
  if (draft && !drafts) return false;
  if (!wanted.every((label) => has(labels, label))) return false;
  return baseBranches === undefined || baseBranches.some((glob) => matchesGlob(glob, base.ref));
}

/** A time as objects have it. */
export const seconds = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, "Z");

/**
 * What the label says of a fork's commit. Of a fork a commit is approved, not the pull request: whoever pushes once more has
 * to be looked at once more, which taking the label away and giving it again says. A label that is found together with a
 * commit that nobody has seen before may have been given for the one before that, and approves neither; nor does one on a
 * pull request that is new here: its author may have closed it, pushed, and opened it again.
 */
function approvalOf(
  { labels, head }: PullRequest,
  label: string,
  last: Candidate | undefined,
): Pick<Candidate, "labelled" | "approvedSHA"> {
  if (!has(labels, label)) return {};
  const isNew = last !== undefined && !last.labelled && last.headSHA === head.sha;
  const approvedSHA = last?.approvedSHA ?? (isNew ? head.sha : undefined);
  return { labelled: true, ...(approvedSHA !== undefined && { approvedSHA }) };
}

/** The pull requests of a listing that the filter lets through. */
export function candidatesOf(
  pulls: readonly PullRequest[],
  { filter = {} }: Spec,
  before: readonly Candidate[],
  now: Date,
): Candidate[] {
  const { forks = "Approved", approvalLabel = defaultApprovalLabel } = filter;
  const known = new Map(before.map((preview) => [preview.number, preview]));
  const candidates: Candidate[] = [];
  for (const pull of pulls) {
    const fork = forkOf(pull);
    if (!isWanted(pull, filter) || (fork !== undefined && forks === "Never")) continue;
    const { number, head, base } = pull;
    const last = known.get(number);
    candidates.push({
      number,
      headSHA: head.sha,
      headRef: head.ref,
      baseRef: base.ref,
      since: last?.headSHA === head.sha ? last.since : seconds(now),
      ...(fork !== undefined && { fork }),
      ...(fork !== undefined && forks === "Approved" && approvalOf(pull, approvalLabel, last)),
    });
  }
  return candidates;
}

/** What is asked of a candidate as well: that it is approved, not too old, and that there is room for it. */
export function selected(
  candidates: readonly Candidate[],
  { filter = {}, ttl, maxPreviews = Number.POSITIVE_INFINITY }: Spec,
  /** Numbers of those that have a preview: they keep it before others get one. */
  shown: ReadonlySet<number>,
  now: Date,
): Selected[] {
  const { forks = "Approved" } = filter;
  const judged = candidates.map((candidate): Selected => {
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

/** When a preview goes by itself: milliseconds since the epoch. */
export const expiryOf = ({ since }: Pick<Candidate, "since">, ttl: string): number =>
  Date.parse(since) + millisOf(ttl);

/** When previews go by themselves. */
export const endsOf = (previews: readonly Selected[], { ttl }: Pick<Spec, "ttl">): number[] =>
  ttl === undefined
    ? []
    : previews
        .filter(({ state }) => state === "shown" || state === "Waiting")
        .map((preview) => expiryOf(preview, ttl));
