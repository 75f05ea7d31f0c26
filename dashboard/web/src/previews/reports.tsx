/** The reports of an AppPipeline to GitHub. */
import type { AppPipeline } from "@denrei/functions/paas/kinds";
import { appendPath, Commit, OptionalLink } from "../builds/repository.tsx";
import { Age } from "../ui/age.tsx";
import { Status } from "../ui/status.tsx";
import { reportText as text } from "./text.ts";

type Report = NonNullable<NonNullable<AppPipeline["status"]>["reports"]>[number];

/** The reports by pull request. */
export function Reports({ pipeline: { status }, url }: { pipeline: AppPipeline; url: string | undefined }) {
  const reports = status?.reports ?? [];
  return (
    <section class="card" aria-labelledby="reports">
      <header>
        <h2 id="reports">{text.title}</h2>
      </header>
      {status?.reportContext && (
        <p>
          {text.context} <code>{status.reportContext}</code>.
        </p>
      )}
      {status?.nextReportAt && (
        <p class="notice busy">
          {text.unsent} <Age of={status.nextReportAt} />.
        </p>
      )}
      {reports.length === 0 ? (
        <p class="quiet">{text.none}</p>
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
          {text.statusOf} <Commit sha={pending.sha} url={url} /> {text.pending}{" "}
        </>
      ) : (
        statuses.length > 0 && `${text.set} `
      )}
      {deployment !== undefined && (
        <>
          {text.deploymentOf} <Commit sha={deployedSHA} url={url} /> {text.created}{" "}
        </>
      )}
      {comment !== undefined && (
        <>
          <OptionalLink to={url && `${url}/pull/${number}#issuecomment-${comment}`}>
            {text.comment}
          </OptionalLink>{" "}
          {text.posted}{" "}
        </>
      )}
      {Object.entries(refused).map(([piece, at]) => (
        <span key={piece} class="row">
          <Status tone="bad">{text.refused}</Status>
          <span>
            {text.rejected(text.pieces[piece] ?? piece)} <Age of={at} />.
          </span>
        </span>
      ))}
    </>
  );
}
