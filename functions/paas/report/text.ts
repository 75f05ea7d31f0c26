/** What GitHub is told of a preview. Pure. */

import type { CommitStatus, DeploymentStatus } from "../../../bus/github/reports.ts";
import { redacted } from "../../../bus/values/redact.ts";
import { defaultApprovalLabel } from "../apppipeline/select.ts";
import type { AppPipeline, Preview } from "../kinds/apppipeline.ts";
import { markerOf } from "./names.ts";

/** Where a preview is, in as few words as GitHub has states. */
export type Stage = "pending" | "success" | "failure" | "waiting" | "gone";

const stages: Readonly<Record<Preview["phase"], Stage>> = {
  Waiting: "waiting",
  NeedsApproval: "waiting",
  Expired: "gone",
  Resolving: "pending",
  Building: "pending",
  Deploying: "pending",
  Ready: "success",
  Failed: "failure",
};

export const stageOf = ({ phase }: Pick<Preview, "phase">): Stage => stages[phase];

const sentences: Readonly<Record<Preview["phase"], string>> = {
  Waiting: "The preview waits for its turn",
  NeedsApproval: "The preview waits for somebody to approve this commit",
  Expired: "The preview has gone, as nothing was pushed for long",
  // Mostly it takes a moment, and each sentence is a call.
  Resolving: "The preview is being built",
  Building: "The preview is being built",
  Deploying: "The preview is being deployed",
  Ready: "The preview is ready",
  Failed: "There is no preview of this commit",
};

/** The commit that a report is about: of a fork the one that is shown, and not what was pushed since. */
export const reportedSHA = ({ approvedSHA, headSHA }: Preview): string => approvedSHA ?? headSHA;

/** The state of a preview's commit; undefined when no preview is to come of it. */
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

/** What ends a status that was pending when its commit was the last one, or its pull request open. */
export const endedState = (why: "gone" | "superseded"): Omit<CommitStatus, "context"> => ({
  // Not a failure: nobody has anything to correct.
  state: "success",
  description:
    why === "gone"
      ? "No preview: it went before it was ready"
      : "No preview: a later commit came before it was ready",
});

/** The state of its deployment; none where nothing is deployed. */
export function deploymentStatusOf(preview: Preview): DeploymentStatus | undefined {
  const stage = stageOf(preview);
  if (stage === "waiting" || stage === "gone") return undefined;
  return {
    state: stage === "pending" ? "in_progress" : stage,
    description: sentences[preview.phase],
    ...(stage === "success" && preview.url !== undefined && { environmentUrl: preview.url }),
  };
}

/** Nobody reads more of it in a comment. */
const longestText = 2000;

/** Text of others, which must not become anything else than text, and must not tell what is secret. */
const quoted = (text: string): string =>
  `\n\n\`\`\`\n${redacted(text).slice(0, longestText).replaceAll("```", "'''")}\n\`\`\``;

const stillRunning = "The preview runs this commit. Something else about it needs attention:";

/** The comment on a pull request; `context`: the pipeline's. */
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

/** How a stranger's commit is approved, where one waits for it. */
function hintOf({ spec }: AppPipeline, { phase, approvedSHA, headSHA }: Preview): string {
  const isBehind = approvedSHA !== undefined && approvedSHA !== headSHA;
  if (phase !== "NeedsApproval" && !isBehind) return "";
  const label = spec.filter?.approvalLabel ?? defaultApprovalLabel;
  return `\n\nThe label \`${label}\` approves the last commit when it is given, and so does an approving review. Both count from users with write access. Look at what the commit runs before.`;
}

/** The comment when there is no preview any more. */
export const closingComment = (pipeline: AppPipeline, context: string, number: number): string =>
  `${markerOf(context, number)}\n**Preview \`${pipeline.metadata.name}\`** is gone: the pull request is closed, or is none of those that get one.\n`;
