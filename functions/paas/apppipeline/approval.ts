/**
 * Decides which commit of a fork is approved. An approval is for a commit, never for the pull request: a review approves the commit
 * that the reviewer saw, and the label approves the commit that was the last one when it was added. Both count only from users
 * who may write to the repository.
 */
import type { PullRequest, TimelineEvent } from "denrei/github";
import type { Preview } from "../kinds/apppipeline.ts";

/** The approval of a fork's pull request. */
export type Approval = Pick<
  Preview,
  "labeled" | "approvedSHA" | "approvedBy" | "approvedWith" | "approvedAt" | "approvalProblem" | "headSeenAt"
>;

/** The previous decision. */
export type Before = Approval & Pick<Preview, "headSHA">;

/** Inputs of a decision. */
export interface ApprovalInput {
  readonly pull: Pick<PullRequest, "labels" | "updatedAt" | "head">;
  readonly label: string;
  readonly last: Before | undefined;
  /** Oldest first. */
  readonly timeline: readonly TimelineEvent[];
  /** Whether a user may write to the repository. */
  readonly mayWrite: (login: string) => Promise<boolean>;
}

type LabelEvent = Extract<TimelineEvent, { type: "labeled" | "unlabeled" }>;
type Review = Extract<TimelineEvent, { type: "reviewed" }>;

/** GitHub's labels ignore case. */
const isSame = (label: string, other: string): boolean => label.toLowerCase() === other.toLowerCase();

/** Whether a pull request has a label. */
export const hasLabel = (labels: readonly string[], label: string): boolean =>
  labels.some((other) => isSame(other, label));

/** Decides. An approved commit stays approved while its label or review is present. Each later commit needs its own approval. */
export async function approvalOf(input: ApprovalInput): Promise<Approval> {
  const { pull, label, last, timeline } = input;
  const labeled = hasLabel(pull.labels, label);
  const headSeenAt = seenAt(input);
  const facts = { headSeenAt: headSeenAt.toISOString(), ...(labeled && { labeled }) };
  const sha = pull.head.sha;

  const reviewer = await firstWriter(reviewersOf(timeline, sha), input);
  if (reviewer !== undefined)
    return { ...facts, approvedSHA: sha, approvedBy: reviewer, approvedWith: "review" };
  const found = labeled ? await byLabel(headSeenAt, input) : undefined;
  if (typeof found === "object")
    return {
      ...facts,
      approvedSHA: sha,
      approvedBy: found.by,
      approvedWith: "label",
      approvedAt: found.at.toISOString(),
    };
  const kept = last !== undefined && isStillApproved(last, labeled, input) ? approvalFields(last) : {};
  const isUnapproved = kept.approvedSHA === undefined;
  return { ...facts, ...kept, ...(found !== undefined && isUnapproved && { approvalProblem: found }) };
}

/**
 * When the last commit was first seen, by GitHub's clock: it was the last one at that time. After a force push, a commit counts as
 * new, because the branch may have been moved away and back.
 */
function seenAt({ pull, last, timeline }: ApprovalInput): Date {
  if (last?.headSeenAt === undefined || last.headSHA !== pull.head.sha) return pull.updatedAt;
  const seen = new Date(last.headSeenAt);
  const isMoved = timeline.some((event) => event.type === "force-pushed" && event.at > seen);
  return isMoved ? pull.updatedAt : seen;
}

const howToApprove = "review the last commit, then remove the label and add it again";

/** The last time that the label was added or removed. */
const lastChange = ({ label, timeline }: Pick<ApprovalInput, "label" | "timeline">): LabelEvent | undefined =>
  timeline.findLast(
    (event): event is LabelEvent =>
      (event.type === "labeled" || event.type === "unlabeled") && isSame(event.label, label),
  );

/** The user who added the label to the last commit, and when, or why the label does not approve it. */
async function byLabel(
  headSeenAt: Date,
  input: ApprovalInput,
): Promise<{ readonly by: string; readonly at: Date } | string> {
  const { pull, mayWrite } = input;
  const given = lastChange(input);
  // A listing from before the label was added may lack commits that were pushed in between.
  if (given?.type !== "labeled" || given.at > pull.updatedAt)
    return "GitHub does not report yet who added the label, and when";
  if (given.at <= headSeenAt) return `the label may have been added to an earlier commit: ${howToApprove}`;
  const { by, at } = given;
  if (by === undefined || !(await mayWrite(by)))
    return `the label was added by ${by ?? "a deleted account"}, who may not write to the repository`;
  return { by, at };
}

/** Users who approve a commit: for each reviewer, the last review counts. */
function reviewersOf(timeline: readonly TimelineEvent[], sha: string): string[] {
  const words = new Map<string, Review>();
  for (const event of timeline)
    if (event.type === "reviewed" && event.state !== "commented" && event.by !== undefined)
      words.set(event.by, event);
  return [...words].flatMap(([login, { state, commit }]) =>
    state === "approved" && commit === sha ? [login] : [],
  );
}

async function firstWriter(
  logins: readonly string[],
  { mayWrite }: Pick<ApprovalInput, "mayWrite">,
): Promise<string | undefined> {
  for (const login of logins) if (await mayWrite(login)) return login;
  return undefined;
}

const approvalFields = ({ approvedSHA, approvedBy, approvedWith, approvedAt }: Before): Approval => ({
  ...(approvedSHA !== undefined && { approvedSHA }),
  ...(approvedBy !== undefined && { approvedBy }),
  ...(approvedWith !== undefined && { approvedWith }),
  ...(approvedAt !== undefined && { approvedAt }),
});

function isStillApproved(
  { approvedSHA, approvedBy, approvedWith, approvedAt }: Before,
  labeled: boolean,
  input: ApprovalInput,
): boolean {
  if (approvedSHA === undefined) return false;
  if (approvedWith === "review")
    return approvedBy !== undefined && reviewersOf(input.timeline, approvedSHA).includes(approvedBy);
  return labeled && !isAddedAgain({ approvedBy, approvedAt }, lastChange(input));
}

/** Whether the label was removed after it approved a commit, even if the pull request has it again. */
function isAddedAgain(
  { approvedBy, approvedAt }: Pick<Before, "approvedBy" | "approvedAt">,
  change: LabelEvent | undefined,
): boolean {
  if (change === undefined) return false;
  const isSameUser = approvedBy === undefined || change.by === approvedBy;
  // Earlier versions did not record the time.
  const at = approvedAt === undefined ? change.at.getTime() : Date.parse(approvedAt);
  // A timeline that lags behind has no later events yet.
  if (change.at.getTime() < at) return false;
  return change.at.getTime() > at || change.type !== "labeled" || !isSameUser;
}
