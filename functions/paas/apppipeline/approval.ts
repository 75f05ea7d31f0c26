/**
 * Which commit of a fork is approved. It is always a commit, never the pull request: an approving review is of the commit that the
 * reviewer had before them, and the label approves the commit that was the last one when the label was given. Both count only from
 * those who may write to the repository.
 */
import type { PullRequest } from "../../../bus/github/pullrequest.ts";
import type { TimelineEvent } from "../../../bus/github/timeline.ts";
import type { Preview } from "../kinds/apppipeline.ts";

/** The approval of a fork's pull request. */
export type Approval = Pick<
  Preview,
  "labelled" | "approvedSHA" | "approvedBy" | "approvedWith" | "approvedAt" | "approvalProblem" | "headSeenAt"
>;

/** What was decided before. */
export type Before = Approval & Pick<Preview, "headSHA">;

/** Inputs of a decision. */
export interface ApprovalInput {
  readonly pull: Pick<PullRequest, "labels" | "updatedAt" | "head">;
  readonly label: string;
  readonly last: Before | undefined;
  /** The oldest first. */
  readonly timeline: readonly TimelineEvent[];
  /** Whether a user may write to the repository. */
  readonly mayWrite: (login: string) => Promise<boolean>;
}

type LabelEvent = Extract<TimelineEvent, { type: "labeled" | "unlabeled" }>;
type Review = Extract<TimelineEvent, { type: "reviewed" }>;

/** GitHub's labels ignore case. */
const isSame = (label: string, other: string): boolean => label.toLowerCase() === other.toLowerCase();

/** Whether a pull request has a label. */
export const hasLabel = (labels: readonly string[], wanted: string): boolean =>
  labels.some((label) => isSame(label, wanted));

/** Decides. A commit that was approved stays so while its label or its review is there; each later one needs its own approval. */
export async function approvalOf(input: ApprovalInput): Promise<Approval> {
  const { pull, label, last, timeline } = input;
  const labelled = hasLabel(pull.labels, label);
  const headSeenAt = seenAt(input);
  const facts = { headSeenAt: headSeenAt.toISOString(), ...(labelled && { labelled }) };
  const sha = pull.head.sha;

  const reviewer = await firstWriter(reviewersOf(timeline, sha), input);
  if (reviewer !== undefined)
    return { ...facts, approvedSHA: sha, approvedBy: reviewer, approvedWith: "review" };
  const found = labelled ? await byLabel(headSeenAt, input) : undefined;
  if (typeof found === "object")
    return {
      ...facts,
      approvedSHA: sha,
      approvedBy: found.by,
      approvedWith: "label",
      approvedAt: found.at.toISOString(),
    };
  const kept = last !== undefined && stands(last, labelled, input) ? approvalIn(last) : {};
  const isUnapproved = kept.approvedSHA === undefined;
  return { ...facts, ...kept, ...(found !== undefined && isUnapproved && { approvalProblem: found }) };
}

/**
 * When the last commit was first seen, by GitHub's clock: at that moment it was the last one already. A branch that was moved to
 * other commits since may have been moved back, so that it counts as new.
 */
function seenAt({ pull, last, timeline }: ApprovalInput): Date {
  if (last?.headSeenAt === undefined || last.headSHA !== pull.head.sha) return pull.updatedAt;
  const seen = new Date(last.headSeenAt);
  const isMoved = timeline.some((event) => event.type === "force-pushed" && event.at > seen);
  return isMoved ? pull.updatedAt : seen;
}

const again = "look at the last commit, take the label away and give it again";

/** The last time that the label was given or taken away. */
const lastChange = ({ label, timeline }: Pick<ApprovalInput, "label" | "timeline">): LabelEvent | undefined =>
  timeline.findLast(
    (event): event is LabelEvent =>
      (event.type === "labeled" || event.type === "unlabeled") && isSame(event.label, label),
  );

/** The user who gave the label to the last commit, and when, or why the label does not approve it. */
async function byLabel(
  headSeenAt: Date,
  input: ApprovalInput,
): Promise<{ readonly by: string; readonly at: Date } | string> {
  const { pull, mayWrite } = input;
  const given = lastChange(input);
  // A listing from before the label may lack commits that were pushed in between.
  if (given?.type !== "labeled" || given.at > pull.updatedAt)
    return "who gave the label, and to which commit, is not known yet";
  if (given.at <= headSeenAt) return `the label may have been given to an earlier commit: ${again}`;
  const { by, at } = given;
  if (by === undefined || !(await mayWrite(by)))
    return `the label was given by ${by ?? "an account that is gone"}, who may not write to the repository`;
  return { by, at };
}

/** Users who approve a commit: of each reviewer, the last review counts. */
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

const approvalIn = ({ approvedSHA, approvedBy, approvedWith, approvedAt }: Before): Approval => ({
  ...(approvedSHA !== undefined && { approvedSHA }),
  ...(approvedBy !== undefined && { approvedBy }),
  ...(approvedWith !== undefined && { approvedWith }),
  ...(approvedAt !== undefined && { approvedAt }),
});

function stands(
  { approvedSHA, approvedBy, approvedWith, approvedAt }: Before,
  labelled: boolean,
  input: ApprovalInput,
): boolean {
  if (approvedSHA === undefined) return false;
  if (approvedWith === "review")
    return approvedBy !== undefined && reviewersOf(input.timeline, approvedSHA).includes(approvedBy);
  return labelled && !isGivenAgain({ approvedBy, approvedAt }, lastChange(input));
}

/** Whether the label was taken away since it approved a commit, although the pull request has it again. */
function isGivenAgain(
  { approvedBy, approvedAt }: Pick<Before, "approvedBy" | "approvedAt">,
  change: LabelEvent | undefined,
): boolean {
  if (change === undefined) return false;
  const isSameUser = approvedBy === undefined || change.by === approvedBy;
  // Earlier versions did not record the time.
  const at = approvedAt === undefined ? change.at.getTime() : Date.parse(approvedAt);
  // A timeline that lags says nothing about what came later.
  if (change.at.getTime() < at) return false;
  return change.at.getTime() > at || change.type !== "labeled" || !isSameUser;
}
