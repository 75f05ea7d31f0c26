/** What GitHub was told of previews. */
import type { AppPipeline } from "../../../../functions/paas/kinds.ts";
import { Commit, Named, within } from "../builds/repository.tsx";
import { Age } from "../ui/age.tsx";
import { OutLink } from "../ui/link.tsx";
import { Status } from "../ui/status.tsx";

type Report = NonNullable<NonNullable<AppPipeline["status"]>["reports"]>[number];

/** Pieces of a report, as they are called in it. */
const pieces: Readonly<Record<string, string>> = {
  commitStatus: "the commit status",
  deployment: "the deployment",
  comment: "the comment",
};

/** All that was told, pull request by pull request. */
export function Reports({ pipeline: { status }, url }: { pipeline: AppPipeline; url: string | undefined }) {
  const reports = status?.reports ?? [];
  return (
    <section class="card" aria-labelledby="reports">
      <header>
        <h2 id="reports">What GitHub was told</h2>
      </header>
      {status?.reportContext && (
        <p>
          Commit statuses have the context <code>{status.reportContext}</code>.
        </p>
      )}
      {status?.nextReportAt && (
        <p class="notice busy">
          GitHub could not be told all, and is told more <Age of={status.nextReportAt} />.
        </p>
      )}
      {reports.length === 0 ? (
        <p class="quiet">Nothing yet.</p>
      ) : (
        <ul class="plain">
          {reports.map((report) => (
            <li key={report.number}>
              <strong>
                <Named to={within(url, `pull/${report.number}`)}>{`#${report.number}`}</Named>
              </strong>{" "}
              <Told report={report} url={url} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Told({ report, url }: { report: Report; url: string | undefined }) {
  const { number, statuses = [], deployment, deployedSHA, comment, refused = {} } = report;
  const pending = statuses.find((status) => status.pending);
  return (
    <>
      {pending ? (
        <>
          The status of <Commit sha={pending.sha} url={url} /> is set, and still pending.{" "}
        </>
      ) : (
        statuses.length > 0 && "The status of its last commit is set. "
      )}
      {deployment !== undefined && (
        <>
          There is a deployment of <Commit sha={deployedSHA} url={url} />.{" "}
        </>
      )}
      {comment !== undefined && (
        <>
          {url === undefined ? (
            "A comment is written."
          ) : (
            <OutLink to={`${url}/pull/${number}#issuecomment-${comment}`}>A comment</OutLink>
          )}
          {url !== undefined && " is written."}{" "}
        </>
      )}
      {Object.entries(refused).map(([piece, at]) => (
        <span key={piece} class="row">
          <Status tone="bad">Refused</Status>
          <span>
            GitHub does not take {pieces[piece] ?? piece}. It is tried again <Age of={at} />.
          </span>
        </span>
      ))}
    </>
  );
}
