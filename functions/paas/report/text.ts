/** What GitHub is told of a preview. Pure. */
import type { CommitStatus, DeploymentStatus } from "../../../bus/github/reports.ts";
import type { AppPipeline, Preview } from "../kinds/apppipeline.ts";

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
  Resolving: "The preview is about to be built",
  Building: "The preview is being built",
  Deploying: "The preview is being deployed",
  Ready: "The preview is ready",
  Failed: "There is no preview of this commit",
};

/** The commit that a report is about: of a fork the one that is shown, and not what was pushed since. */
export const reportedSHA = ({ approvedSHA, headSHA }: Preview): string => approvedSHA ?? headSHA;

/** Tells statuses, comments and environments of several pipelines apart. */
export const contextOf = (pipeline: AppPipeline): string => `modoki/${pipeline.metadata.name}`;

/** The status of the last commit; none where nothing is to be expected of it. */
export function commitStatusOf(pipeline: AppPipeline, preview: Preview): CommitStatus | undefined {
  const stage = stageOf(preview);
  if (stage === "gone") return undefined;
  return {
    state: stage === "waiting" ? "pending" : stage,
    context: contextOf(pipeline),
    description: [sentences[preview.phase], preview.phase === "Failed" ? preview.message : undefined]
      .filter(Boolean)
      .join(": "),
    ...(stage === "success" && { targetUrl: preview.url }),
  };
}

/** The environment of a preview's deployments. */
export const environmentOf = (pipeline: AppPipeline, number: number): string =>
  `${contextOf(pipeline)}/pr-${number}`;

/** The state of its deployment. */
export function deploymentStatusOf(preview: Preview): DeploymentStatus {
  const stage = stageOf(preview);
  return {
    state:
      stage === "pending"
        ? "in_progress"
        : stage === "waiting"
          ? "queued"
          : stage === "gone"
            ? "inactive"
            : stage,
    description: sentences[preview.phase],
    ...(stage === "success" && preview.url !== undefined && { environmentUrl: preview.url }),
  };
}

/** In the comment, where nobody sees it: by this it is found again. */
export const markerOf = ({ metadata: { namespace = "", name, uid } }: AppPipeline): string =>
  `<!-- modoki: ${namespace}/${name} ${uid} -->`;

/** Text of others, which must not become anything else than text. */
const quoted = (text: string): string => `\n\n\`\`\`\n${text.replaceAll("```", "'''")}\n\`\`\``;

/** The comment on a pull request. */
export function commentOf(pipeline: AppPipeline, preview: Preview): string {
  const { phase, url, message } = preview;
  const title = `**Preview \`${pipeline.metadata.name}\`**`;
  const rows = [
    ["Commit", `\`${reportedSHA(preview).slice(0, 12)}\``],
    ["State", phase],
    ...(phase === "Ready" && url !== undefined ? [["URL", url]] : []),
  ];
  const table = ["| | |", "|---|---|", ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join("\n");
  const more = message === undefined ? "" : phase === "Failed" ? quoted(message) : `\n\n${message}.`;
  const hint =
    phase === "NeedsApproval"
      ? `\n\nWhoever may write to the repository can give the pull request the label \`${pipeline.spec.filter?.approvalLabel ?? "preview-approved"}\`.`
      : "";
  return `${markerOf(pipeline)}\n${title}\n\n${table}${more}${hint}\n`;
}

/** The comment when there is no preview any more. */
export const closingComment = (pipeline: AppPipeline): string =>
  `${markerOf(pipeline)}\n**Preview \`${pipeline.metadata.name}\`** is gone with the pull request.\n`;
