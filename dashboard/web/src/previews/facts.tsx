/** The summary of an AppPipeline. */
import type { Stored } from "../../../../bus/kube/object.ts";
import type { AppPipeline } from "../../../../functions/paas/kinds.ts";
import { Named } from "../builds/repository.tsx";
import { Age } from "../ui/age.tsx";

const forks = {
  Never: "no forks",
  Approved: "forks after approval of the commit",
  Always: "forks without approval",
} as const;

/** Which pull requests get a preview. */
function filterOf({ filter = {} }: AppPipeline["spec"]): string {
  const { labels = [], baseBranches = [], drafts = true, forks: from = "Approved", approvalLabel } = filter;
  return [
    labels.length > 0 ? `labeled ${labels.join(" and ")}` : "all open",
    ...(baseBranches.length > 0 ? [`targeting ${baseBranches.join(" or ")}`] : []),
    ...(drafts ? [] : ["no drafts"]),
    from === "Approved" && approvalLabel ? `${forks[from]} with the label ${approvalLabel}` : forks[from],
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

export function Facts({ pipeline, url }: { pipeline: Stored<AppPipeline>; url: string | undefined }) {
  const { metadata, spec, status } = pipeline;
  const { owner, repo, secretName } = spec.base.github;
  return (
    <section class="card" aria-labelledby="facts">
      <header>
        <h2 id="facts">Summary</h2>
      </header>
      <dl class="facts">
        <dt>Repository</dt>
        <dd>
          <Named to={url}>{`${owner}/${repo}`}</Named>
          {spec.base.subPath && (
            <>
              , folder <code>{spec.base.subPath}</code>
            </>
          )}
        </dd>
        <dt>Pull requests</dt>
        <dd>{filterOf(spec)}</dd>
        <dt>Limit</dt>
        <dd>{spec.maxPreviews === undefined ? "none" : `${spec.maxPreviews} previews at once`}</dd>
        <dt>Lifetime</dt>{" "}
        <dd>until the pull request is closed{spec.ttl && `, or ${spec.ttl} after its last commit`}</dd>
        <dt>Domain</dt>
        <dd>{spec.domainBase}</dd>
        <dt>Image repository</dt>
        <dd>
          <code>{spec.image.name}</code>
        </dd>
        <dt>GitHub token</dt> <dd>Secret {secretName}</dd>
        <dt>Reports to GitHub</dt>
        <dd>{reportsOf(spec)}</dd>
        <dt>Pull requests listed</dt>
        <dd>
          {status?.listedAt ? <Age of={status.listedAt} /> : "not yet"}
          {status?.nextListingAt && (
            <>
              , next time <Age of={status.nextListingAt} /> at the latest
            </>
          )}
        </dd>
        <dt>Created</dt>
        <dd>
          <Age of={metadata.creationTimestamp} />
        </dd>
      </dl>
    </section>
  );
}
