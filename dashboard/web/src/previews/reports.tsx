/** The reports of an AppPipeline to GitHub. */
import type { AppPipeline } from "@denrei/functions/paas/kinds";
import { appendPath, Commit, OptionalLink } from "../builds/repository.tsx";
import { Age } from "../ui/age.tsx";
import { OutLink } from "../ui/link.tsx";
import { Status } from "../ui/status.tsx";

type Report = NonNullable<NonNullable<AppPipeline["status"]>["reports"]>[number];

/** Labels of the parts of a report. */
const pieces: Readonly<Record<string, string>> = {
  commitStatus: "the commit status",
  deployment: "the deployment",
  comment: "the comment",
};

/** The reports by pull request. */
export function Reports({ pipeline: { status }, url }: { pipeline: AppPipeline; url: string | undefined }) {
  const reports = status?.reports ?? [];
  return (
    <section class="card" aria-labelledby="reports">
      <header>
        <h2 id="reports">Reports to GitHub</h2>
      </header>
      {status?.reportContext && (
        <p>
          Commit statuses have the context <code>{status.reportContext}</code>.
        </p>
      )}
      {status?.nextReportAt && (
        <p class="notice busy">
          Some reports are not sent yet. Next attempt: <Age of={status.nextReportAt} />.
        </p>
      )}
      {reports.length === 0 ? (
        <p class="quiet">None yet.</p>
      ) : (
        <ul class="plain">
          {reports.map((report) => (
            <li key={report.number}>
              <strong>
                <OptionalLink
                  to={appendPath(url, `pull/${report.number}`)}
                >{`#${report.number}`}</OptionalLink>
              </strong>{" "}
              <ReportText report={report} url={url} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function ReportText({ report, url }: { report: Report; url: string | undefined }) {
  const { number, statuses = [], deployment, deployedSHA, comment, refused = {} } = report;
  const pending = statuses.find((status) => status.pending);
  return (
    <>
      {pending ? (
        <>
          Status of <Commit sha={pending.sha} url={url} /> set, still pending.{" "}
        </>
      ) : (
        statuses.length > 0 && "Status of the last commit set. "
      )}
      {deployment !== undefined && (
        <>
          Deployment of <Commit sha={deployedSHA} url={url} /> created.{" "}
        </>
      )}
      {comment !== undefined && (
        <>
          {url === undefined ? (
            "Comment posted."
          ) : (
            <OutLink to={`${url}/pull/${number}#issuecomment-${comment}`}>Comment</OutLink>
          )}
          {url !== undefined && " posted."}{" "}
        </>
      )}
      {Object.entries(refused).map(([piece, at]) => (
        <span key={piece} class="row">
          <Status tone="bad">Refused</Status>
          <span>
            GitHub rejected {pieces[piece] ?? piece}. Next attempt: <Age of={at} />.
          </span>
        </span>
      ))}
    </>
  );
}
