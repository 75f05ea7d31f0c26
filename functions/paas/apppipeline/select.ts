/** Which pull requests get a preview. Pure: from what GitHub says, and what was decided before. */

import type { PullRequest } from "../../../bus/github/pullrequest.ts";
import { matchesGlob } from "../../../bus/values/glob.ts";
import type { AppPipeline, Preview } from "../kinds/apppipeline.ts";
import { millisOf } from "../kinds/fields.ts";
import { type Approval, hasLabel } from "./approval.ts";

/** A pull request that may have a preview, before anything is known of its objects. */
export type Candidate = Pick<
  Preview,
  "number" | "headSHA" | "headRef" | "baseRef" | "fork" | "since" | "slug" | keyof Approval
>;

const kept = [
  ...(["number", "headSHA", "headRef", "baseRef", "fork", "since", "slug"] as const),
  ...(["labelled", "approvedSHA", "approvedBy", "approvedWith", "approvedAt"] as const),
  ...(["approvalProblem", "headSeenAt"] as const),
] as const satisfies readonly (keyof Candidate)[];

/** What of a preview is known from the last listing. */
export const candidateIn = (preview: Preview): Candidate =>
  Object.fromEntries(
    kept.flatMap((name) => (preview[name] === undefined ? [] : [[name, preview[name]]])),
  ) as unknown as Candidate;

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

function isWanted(
  { labels, draft, base }: PullRequest,
  { labels: wanted = [], baseBranches, drafts = true }: NonNullable<Spec["filter"]>,
): boolean {
  if (draft && !drafts) return false;
  if (!wanted.every((label) => hasLabel(labels, label))) return false;
  return baseBranches === undefined || baseBranches.some((glob) => matchesGlob(glob, base.ref));
}

/** A time as objects have it. */
export const seconds = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, "Z");

/** The pull requests of a listing that the filter lets through. */
const wantedOf = (pulls: readonly PullRequest[], { filter = {} }: Spec): PullRequest[] =>
  pulls.filter((pull) => isWanted(pull, filter) && (filter.forks !== "Never" || forkOf(pull) === undefined));

/** Those of them of which a commit has to be approved. */
export const toApprove = (pulls: readonly PullRequest[], spec: Spec): PullRequest[] =>
  (spec.filter?.forks ?? "Approved") === "Approved"
    ? wantedOf(pulls, spec).filter((pull) => forkOf(pull) !== undefined)
    : [];

/** The candidates of a listing; `approvals` by the numbers of those that {@link toApprove} has. */
export const candidatesOf = (
  pulls: readonly PullRequest[],
  spec: Spec,
  before: readonly Candidate[],
  approvals: ReadonlyMap<number, Approval>,
  now: Date,
): Candidate[] => {
  const known = new Map(before.map((preview) => [preview.number, preview]));
  return wantedOf(pulls, spec).map((pull) => {
    const { number, head, base } = pull;
    const fork = forkOf(pull);
    const last = known.get(number);
    return {
      number,
      headSHA: head.sha,
      headRef: head.ref,
      baseRef: base.ref,
      since: last?.headSHA === head.sha ? last.since : seconds(now),
      ...(fork !== undefined && { fork }),
      ...approvals.get(number),
    };
  });
};

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
