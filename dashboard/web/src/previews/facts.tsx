/** The summary of an AppPipeline. */
import type { AppPipeline } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { Source } from "../builds/repository.tsx";
import { Age } from "../ui/age.tsx";
import { Facts } from "../ui/facts.tsx";
import { summaryText as text } from "./text.ts";

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
    labels.length > 0 ? text.labeled(labels) : text.allOpen,
    ...(baseBranches.length > 0 ? [text.targeting(baseBranches)] : []),
    ...(drafts ? [] : [text.noDrafts]),
    from === "Approved" && approvalLabel
      ? text.forks[from] + text.withLabel(approvalLabel)
      : text.forks[from],
    ...(excluded.length > 0 ? [text.without(excluded)] : []),
  ].join("; ");
}

/** Which reports GitHub gets. */
function reportsOf({ report = {} }: AppPipeline["spec"]): string {
  const { commitStatus = true, deployment = false, comment = true } = report;
  const reports = [
    ...(commitStatus ? [text.commitStatus] : []),
    ...(deployment ? [text.deployment] : []),
    ...(comment ? [text.comment] : []),
  ];
  return reports.join(", ") || text.none;
}

export function Summary({ pipeline, url }: { pipeline: Stored<AppPipeline>; url: string | undefined }) {
  const { metadata, spec, status } = pipeline;
  return (
    <Facts
      title={text.title}
      of={[
        [text.repository, <Source key="source" of={spec.base} url={url} />],
        [text.pulls, filterOf(spec)],
        [text.limit, spec.maxPreviews === undefined ? text.none : text.atOnce(spec.maxPreviews)],
        [text.lifetime, text.untilClosed + (spec.ttl ? text.orAfter(spec.ttl) : "")],
        [text.domain, spec.domainBase],
        [text.images, <code key="image">{spec.image.name}</code>],
        [text.token, text.secret(spec.base.github.secretName)],
        [text.reports, reportsOf(spec)],
        [
          text.listed,
          <>
            {status?.listedAt ? <Age of={status.listedAt} /> : text.notYet}
            {status?.nextListingAt && (
              <>
                {text.next} <Age of={status.nextListingAt} /> {text.atLatest}
              </>
            )}
          </>,
        ],
        [text.created, <Age key="created" of={metadata.creationTimestamp} />],
      ]}
    />
  );
}
