/** The list of RemoteSyncs. */
import type { RemoteSync } from "@denrei/functions/paas/kinds";
import { labels } from "@denrei/functions/paas/names";
import type { Condition, Stored } from "denrei/kinds";
import { useMemo } from "preact/hooks";
import { images, remoteSyncs } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { ListScreen, type ListSearch } from "../ui/listscreen.tsx";
import { namespace } from "../ui/namespace.tsx";
import { type SortValue, statusValue } from "../ui/sort.ts";
import { conditionsOf, humanize, Status, type Tone } from "../ui/status.tsx";
import { type Column, createdColumn, healthColumn } from "../ui/table.tsx";
import { Commit, Followed, OptionalLink, type UrlOf, useUrlOf } from "./repository.tsx";
import { kindsText, listText as text } from "./text.ts";

const search: ListSearch<RemoteSync> = {
  kinds: kindsText,
  textsOf({ spec, status }) {
    const { owner, repo, branch, pullRequest } = spec.base.github;
    const reference = [branch, pullRequest && `#${pullRequest}`, status?.revision];
    return [spec.applicationRef.name, `${owner}/${repo}`, ...reference];
  },
};

export function RemoteSyncList() {
  const scope = { namespace: namespace.value || undefined };
  const [watched, imageList] = useWatch(
    [remoteSyncs, scope],
    [images, { ...scope, labelSelector: labels.remoteSync }],
  );
  const urlOf = useUrlOf(imageList.items);
  const columns = useMemo(() => columnsWith(urlOf), [urlOf]);
  return (
    <ListScreen
      path="/builds"
      resource={remoteSyncs}
      text={text}
      watched={watched}
      columns={columns}
      search={search}
    />
  );
}

type Sync = Stored<RemoteSync>;

const columnsWith = (urlOf: UrlOf): readonly Column<Sync>[] => [
  healthColumn,
  [
    text.columns.application,
    (sync) => <ApplicationLink sync={sync} />,
    "text",
    ({ spec }) => spec.applicationRef.name,
  ],
  [
    text.columns.repository,
    (sync) => {
      const { github } = sync.spec.base;
      return (
        <span>
          <OptionalLink to={urlOf(github)}>{`${github.owner}/${github.repo}`}</OptionalLink>
          <span class="quiet small">
            <br />
            <Followed sync={sync} url={urlOf(github)} />
          </span>
        </span>
      );
    },
    "text",
    ({ spec: { base } }) => `${base.github.owner}/${base.github.repo}`,
  ],
  [
    text.columns.revision,
    ({ spec, status }) => <Commit sha={status?.revision} url={urlOf(spec.base.github)} />,
  ],
  [text.columns.build, (sync) => <BuildState sync={sync} />, "text", buildValue],
  createdColumn,
];

function ApplicationLink({ sync: { metadata, spec } }: { sync: Sync }) {
  const { name } = spec.applicationRef;
  return (
    <span>
      <a href={`/applications/${metadata.namespace}/${name}`}>{name}</a>
    </span>
  );
}

const tones: Readonly<Record<string, Tone>> = { True: "good", False: "bad", Unknown: "busy" };

function buildValue(sync: RemoteSync): SortValue {
  const built = builtOf(sync);
  return built && statusValue([tones[built.status] ?? "busy", built.reason]);
}

/** The condition of the newest build. */
function builtOf(sync: RemoteSync): Condition | undefined {
  const built = conditionsOf(sync).find(({ type }) => type === "Built");
  return built?.reason === "Waiting" ? undefined : built;
}

/** The state of the newest build, and its step while it runs. */
function BuildState({ sync }: { sync: RemoteSync }) {
  const built = builtOf(sync);
  if (built === undefined) return <span class="quiet">{text.noBuild}</span>;
  const { status, reason, message } = built;
  const number = sync.status?.buildNumber;
  return (
    <span>
      <Status tone={tones[status] ?? "busy"}>
        {number !== undefined && `#${number} `}
        {humanize(reason).toLowerCase()}
      </Status>
      {status === "Unknown" && <span class="quiet small"> {message.replace(/^build \d+(: )?/, "")}</span>}
    </span>
  );
}
