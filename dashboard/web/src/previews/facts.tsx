/** The summary of an AppPipeline. */
import type { AppPipeline } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { Source } from "../builds/repository.tsx";
import { Age } from "../ui/age.tsx";
import { Facts } from "../ui/facts.tsx";

const forks = {
  Never: "no forks",
  Approved: "forks after approval of the commit",
  Always: "forks without approval",
} as const;

/** Which pull requests get a preview. */
function filterOf({ filter = {} }: AppPipeline["spec"]): string {
  const {
    labels = [],
    baseBranches = [],
    drafts = true,
    forks: from = "Approved",
    approvalLabel,
    excluded = [],
  } = filter;
  return [
    labels.length > 0 ? `labeled ${labels.join(" and ")}` : "all open",
    ...(baseBranches.length > 0 ? [`targeting ${baseBranches.join(" or ")}`] : []),
    ...(drafts ? [] : ["no drafts"]),
    from === "Approved" && approvalLabel ? `${forks[from]} with the label ${approvalLabel}` : forks[from],
    ...(excluded.length > 0 ? [`without ${excluded.map((number) => `#${number}`).join(", ")}`] : []),
  ].join("; ");
}

/** Which reports GitHub gets. */
function reportsOf({ report = {} }: AppPipeline["spec"]): string {
  const { commitStatus = true, deployment = false, comment = true } = report;
  const reports = [
    ...(commitStatus ? ["a commit status"] : []),
    ...(deployment ? ["a deployment"] : []),
    ...(comment ? ["a comment"] : []),
  ];
  return reports.join(", ") || "none";
}

export function Summary({ pipeline, url }: { pipeline: Stored<AppPipeline>; url: string | undefined }) {
  const { metadata, spec, status } = pipeline;
  return (
    <Facts
      title="Summary"
      of={[
        ["Repository", <Source key="source" of={spec.base} url={url} />],
        ["Pull requests", filterOf(spec)],
        ["Limit", spec.maxPreviews === undefined ? "none" : `${spec.maxPreviews} previews at once`],
        [
          "Lifetime",
          `until the pull request is closed${spec.ttl ? `, or ${spec.ttl} after its last commit` : ""}`,
        ],
        ["Domain", spec.domainBase],
        ["Image repository", <code key="image">{spec.image.name}</code>],
        ["GitHub token", `Secret ${spec.base.github.secretName}`],
        ["Reports to GitHub", reportsOf(spec)],
        [
          "Pull requests listed",
          <>
            {status?.listedAt ? <Age of={status.listedAt} /> : "not yet"}
            {status?.nextListingAt && (
              <>
                , next time <Age of={status.nextListingAt} /> at the latest
              </>
            )}
          </>,
        ],
        ["Created", <Age key="created" of={metadata.creationTimestamp} />],
      ]}
    />
  );
}
