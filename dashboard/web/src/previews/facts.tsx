/** What an AppPipeline is told to do. */
import type { Stored } from "../../../../bus/kube/object.ts";
import type { AppPipeline } from "../../../../functions/paas/kinds.ts";
import { Named } from "../builds/repository.tsx";
import { Age } from "../ui/age.tsx";

const forks = {
  Never: "none from forks",
  Approved: "from forks when a commit is approved",
  Always: "from forks as well, unseen",
} as const;

/** Which pull requests get a preview, in words. */
function whichOf({ filter = {} }: AppPipeline["spec"]): string {
  const { labels = [], baseBranches = [], drafts = true, forks: from = "Approved", approvalLabel } = filter;
  return [
    labels.length > 0 ? `those labelled ${labels.join(" and ")}` : "all that are open",
    ...(baseBranches.length > 0 ? [`to be merged into ${baseBranches.join(" or ")}`] : []),
    ...(drafts ? [] : ["no drafts"]),
    from === "Approved" && approvalLabel ? `${forks[from]} with the label ${approvalLabel}` : forks[from],
  ].join("; ");
}

/** What is told, in words. */
function toldOf({ report = {} }: AppPipeline["spec"]): string {
  const { commitStatus = true, deployment = false, comment = true } = report;
  const told = [
    ...(commitStatus ? ["a commit status"] : []),
    ...(deployment ? ["a deployment"] : []),
    ...(comment ? ["a comment"] : []),
  ];
  return told.join(", ") || "nothing";
}

/** The facts. */
export function Facts({ pipeline, url }: { pipeline: Stored<AppPipeline>; url: string | undefined }) {
  const { metadata, spec, status } = pipeline;
  const { owner, repo, secretName } = spec.base.github;
  return (
    <section class="card" aria-labelledby="facts">
      <header>
        <h2 id="facts">What is previewed</h2>
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
        <dd>{whichOf(spec)}</dd>
        <dt>At most</dt>
        <dd>{spec.maxPreviews === undefined ? "any number" : `${spec.maxPreviews} at once`}</dd>
        <dt>Until</dt>
        <dd>the pull request is closed{spec.ttl && `, or ${spec.ttl} after its last commit`}</dd>
        <dt>Domain</dt>
        <dd>{spec.domainBase}</dd>
        <dt>Images go to</dt>
        <dd>
          <code>{spec.image.name}</code>
        </dd>
        <dt>Token of GitHub</dt>
        <dd>in the Secret {secretName}</dd>
        <dt>GitHub is told</dt>
        <dd>{toldOf(spec)}</dd>
        <dt>GitHub was asked</dt>
        <dd>
          {status?.listedAt ? <Age of={status.listedAt} /> : "not yet"}
          {status?.nextListingAt && (
            <>
              , and is again <Age of={status.nextListingAt} /> at the latest
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
