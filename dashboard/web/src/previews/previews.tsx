/** The previews of an AppPipeline. */
import type { Application, AppPipeline, RemoteSync } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { useMemo } from "preact/hooks";
import type { ObjectKey } from "../api/objects.ts";
import { appendPath, Commit } from "../builds/repository.tsx";
import { Age } from "../ui/age.tsx";
import { OutLink } from "../ui/link.tsx";
import { Searchable } from "../ui/searchable.tsx";
import { statusValue, timeValue } from "../ui/sort.ts";
import { Status } from "../ui/status.tsx";
import { type Column, Table } from "../ui/table.tsx";
import {
  changedAt,
  openAddress,
  type PreviewRow,
  podsOf,
  previewRows,
  searchText,
  statusOf,
  toneOf,
} from "./preview.ts";
import { PreviewActions } from "./previewactions.tsx";
import { PullText } from "./pulltext.tsx";
import { previewsText as text } from "./text.ts";
import "./previews.css";

export function Previews({
  pipeline,
  url,
  applications,
  syncs,
}: {
  pipeline: Stored<AppPipeline>;
  /** The address of the repository. */
  url: string | undefined;
  applications: readonly Stored<Application>[];
  syncs: readonly Stored<RemoteSync>[];
}) {
  const { owner, repo } = pipeline.spec.base.github;
  const rows = useMemo(() => previewRows(pipeline, applications, syncs), [pipeline, applications, syncs]);
  const { namespace, name } = pipeline.metadata;
  const columns = useMemo(() => columnsWith(url, { namespace, name }), [url, namespace, name]);
  return (
    <section class="stack" aria-labelledby="previews">
      <h2 id="previews">{text.title}</h2>
      {rows.length === 0 ? (
        <p class="empty">
          {pipeline.status?.previews === undefined ? text.notListed : text.none(`${owner}/${repo}`)}
        </p>
      ) : (
        <Searchable items={rows} text={searchText} tone={toneOf} what={text.what}>
          {(found) => <Table rows={found} keyOf={keyOf} columns={columns} caption={text.title} />}
        </Searchable>
      )}
    </section>
  );
}

const keyOf = ({ preview }: PreviewRow): string => String(preview.number);

/** `pipeline`: the AppPipeline of the previews. */
const columnsWith = (url: string | undefined, pipeline: ObjectKey): readonly Column<PreviewRow>[] => [
  [text.columns.pull, (row) => <PullRequest row={row} url={url} />, "text", ({ preview }) => preview.number],
  [text.columns.status, (row) => <State row={row} url={url} />, "text", (row) => statusValue(statusOf(row))],
  [text.columns.address, (row) => <Address row={row} />],
  [
    text.columns.updated,
    ({ preview }) => <Age of={changedAt(preview)} />,
    "text",
    ({ preview }) => timeValue(changedAt(preview)),
  ],
  [
    text.columns.opened,
    ({ preview }) => <Age of={preview.openedAt} />,
    "text",
    ({ preview }) => timeValue(preview.openedAt),
  ],
  [text.columns.actions, (row) => <PreviewActions row={row} pipeline={pipeline} />],
];

interface Shown {
  readonly row: PreviewRow;
  readonly url: string | undefined;
}

/** The title, and where the pull request comes from. */
function PullRequest({ row: { preview }, url }: Shown) {
  const { number, title, author, headRef, fork } = preview;
  const address = preview.pullRequestURL ?? appendPath(url, `pull/${number}`);
  const name = title ? <PullText of={title} /> : `#${number}`;
  return (
    <span class="pull">
      {address === undefined ? name : <OutLink to={address}>{name}</OutLink>}
      {(title || author) && (
        <span class="small quiet">
          {title && `#${number} `}
          {author && (
            <>
              {text.by} <PullText of={author} />
            </>
          )}
        </span>
      )}
      <span class="small">
        {headRef && (
          <code>
            <PullText of={headRef} />
          </code>
        )}{" "}
        <Commit sha={preview.approvedSHA ?? preview.headSHA} url={url} />
      </span>
      {fork && (
        <span class="small quiet">
          {text.fork} <PullText of={fork} />
        </span>
      )}
    </span>
  );
}

/** The status and its reason. */
function State({ row, url }: Shown) {
  const { phase, headSHA, approvedSHA, warning } = row.preview;
  const message = phase === "Excluded" ? text.excluded : row.preview.message;
  const [tone, word] = statusOf(row);
  const isBehind = approvedSHA !== undefined && approvedSHA !== headSHA;
  return (
    <span class="pull">
      <Status tone={tone}>{word}</Status>
      {isBehind && (
        <span class="small">
          {text.newerCommit} <Commit sha={headSHA} url={url} /> {text.notApproved}
        </span>
      )}
      {message && <span class="small message">{message}</span>}
      {warning && <span class="small message">{warning}</span>}
    </span>
  );
}

/** The address, and the pods that serve it. */
function Address({ row }: { row: PreviewRow }) {
  const pods = podsOf(row);
  if (row.preview.url === undefined) return null;
  return (
    <span class="pull">
      {openAddress(row) === undefined ? (
        <span class="small quiet">{row.preview.url}</span>
      ) : (
        <OutLink to={row.preview.url} class="small" />
      )}
      {pods && <span class="small quiet">{text.pods(...pods)}</span>}
    </span>
  );
}
