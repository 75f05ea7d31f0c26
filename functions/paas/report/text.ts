/** Texts of reports to GitHub. Pure. */

import { redacted } from "denrei";
import type { CommitStatus, DeploymentStatus } from "denrei/github";
import { defaultApprovalLabel } from "../apppipeline/select.ts";
import type { AppPipeline, Preview } from "../kinds/apppipeline.ts";
import { markerOf } from "./names.ts";

/** The phase of a preview, reduced to what GitHub's states can express. */
export type Stage = "pending" | "success" | "failure" | "waiting" | "gone";

const stages: Readonly<Record<Preview["phase"], Stage>> = {
  Waiting: "waiting",
  NeedsApproval: "waiting",
  Expired: "gone",
  Excluded: "gone",
  Resolving: "pending",
  Building: "pending",
  Deploying: "pending",
  Ready: "success",
  Failed: "failure",
};

export const stageOf = ({ phase }: Pick<Preview, "phase">): Stage => stages[phase];

const sentences: Readonly<Record<Preview["phase"], string>> = {
  Waiting: "The preview is waiting for another one to end",
  NeedsApproval: "The preview is waiting for approval of this commit",
  Expired: "The preview expired, because there were no recent pushes",
  Excluded: "The preview was deleted",
  // Resolving takes a moment. A separate sentence would cost an API call.
  Resolving: "The preview is being built",
  Building: "The preview is being built",
  Deploying: "The preview is being deployed",
  Ready: "The preview is ready",
  Failed: "There is no preview of this commit",
};

/** The commit of a report. For a fork, the approved commit, even after later pushes. */
export const reportedSHA = ({ approvedSHA, headSHA }: Preview): string => approvedSHA ?? headSHA;

/** The state of a preview's commit; undefined when there will be no preview of it. */
export function commitStateOf(preview: Preview): Omit<CommitStatus, "context"> | undefined {
  const stage = stageOf(preview);
  if (stage === "gone") return undefined;
  return {
    state: stage === "waiting" ? "pending" : stage,
    description: [sentences[preview.phase], preview.phase === "Failed" ? preview.message : undefined]
      .filter(Boolean)
      .join(": "),
    ...(stage === "success" && { targetUrl: preview.url }),
  };
}

/** The final state of a pending status, after its pull request was closed or a later commit was pushed. */
export const endedState = (why: "gone" | "superseded"): Omit<CommitStatus, "context"> => ({
  // Not a failure, because the user has nothing to fix.
  state: "success",
  description:
    why === "gone"
      ? "No preview: it was deleted before it was ready"
      : "No preview: a later commit was pushed before it was ready",
});

/** The state of a preview's deployment; undefined when nothing is deployed. */
export function deploymentStatusOf(preview: Preview): DeploymentStatus | undefined {
  const stage = stageOf(preview);
  if (stage === "waiting" || stage === "gone") return undefined;
  return {
    state: stage === "pending" ? "in_progress" : stage,
    description: sentences[preview.phase],
    ...(stage === "success" && preview.url !== undefined && { environmentUrl: preview.url }),
  };
}

/** Limit of quoted text in a comment. Characters. */
const longestText = 2000;

/** Quotes text as a code block, without Markdown and without credentials. */
const quoted = (text: string): string =>
  `\n\n\`\`\`\n${redacted(text).slice(0, longestText).replaceAll("```", "'''")}\n\`\`\``;

const stillRunning = "The preview runs this commit. Something else about it needs attention:";

/** The comment on a pull request. `context`: the pipeline's. */
export function commentOf(pipeline: AppPipeline, context: string, preview: Preview): string {
  const { number, phase, url, message, warning } = preview;
  const title = `**Preview \`${pipeline.metadata.name}\`**`;
  const rows = [
    ["Commit", `\`${reportedSHA(preview).slice(0, 12)}\``],
    ["State", phase === "Resolving" ? "Building" : phase],
    ...(phase === "Ready" && url !== undefined ? [["URL", url]] : []),
  ];
  const table = ["| | |", "|---|---|", ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join("\n");
  const more = message === undefined ? "" : phase === "Failed" ? quoted(message) : `\n\n${message}.`;
  const warned = warning === undefined ? "" : `\n\n${stillRunning}${quoted(warning)}`;
  return `${markerOf(context, number)}\n${title}\n\n${table}${more}${warned}${hintOf(pipeline, preview)}\n`;
}

/** How to approve a commit of a fork, where one is waiting. */
function hintOf({ spec }: AppPipeline, { phase, approvedSHA, headSHA }: Preview): string {
  const isBehind = approvedSHA !== undefined && approvedSHA !== headSHA;
  if (phase !== "NeedsApproval" && !isBehind) return "";
  const label = spec.filter?.approvalLabel ?? defaultApprovalLabel;
  return `\n\nTo approve the last commit, add the label \`${label}\` or submit an approving review. Both need write access. Check first what the commit runs.`;
}

/** The comment after a preview was deleted. */
export const closingComment = (pipeline: AppPipeline, context: string, number: number): string =>
  `${markerOf(context, number)}\n**Preview \`${pipeline.metadata.name}\`** was deleted: the pull request is closed, or no longer matches the pipeline's filter.\n`;
