/** The list of RemoteSyncs. */
import { useMemo } from "preact/hooks";
import type { Stored } from "../../../../bus/kube/object.ts";
import type { RemoteSync } from "../../../../functions/paas/kinds.ts";
import { labels } from "../../../../functions/paas/names.ts";
import { images, remoteSyncs } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { Age } from "../ui/age.tsx";
import { Head } from "../ui/head.tsx";
import { namespace } from "../ui/namespace.tsx";
import { Searchable } from "../ui/searchable.tsx";
import { Loaded } from "../ui/states.tsx";
import { conditionsOf, Health, healthOf, Status, spaced, type Tone } from "../ui/status.tsx";
import { type Column, ObjectTable } from "../ui/table.tsx";
import { Commit, Followed, Named, type UrlOf, useUrlOf } from "./repository.tsx";

export function RemoteSyncList() {
  const place = { namespace: namespace.value || undefined };
  const [found, cloned] = useWatch(
    [remoteSyncs, place],
    [images, { ...place, labelSelector: labels.remoteSync }],
  );
  const urlOf = useUrlOf(cloned.items);
  const columns = useMemo(() => columnsWith(urlOf), [urlOf]);
  return (
    <>
      <Head title="Builds">
        <a class="button primary" href="/builds/new">
          Build a repository
        </a>
      </Head>
      <Loaded
        watched={found}
        empty={
          <>
            <h2>No RemoteSyncs here yet</h2>
            <p>
              A RemoteSync builds an Application's image from a branch, pull request, or commit, and rebuilds
              it for each new commit.
            </p>
            <a href="/builds/new">Build the first repository</a>
          </>
        }
      >
        {(items) => (
          <Searchable items={items} text={textOf} what="RemoteSyncs">
            {(shown) => <ObjectTable objects={shown} to={addressOf} columns={columns} />}
          </Searchable>
        )}
      </Loaded>
    </>
  );
}

type Sync = Stored<RemoteSync>;

const textOf = (sync: Sync): string => {
  const { metadata, spec, status } = sync;
  const { owner, repo, branch, pullRequest } = spec.base.github;
  return [
    ...[metadata.namespace, metadata.name, healthOf(sync)[1], spec.applicationRef.name],
    ...[`${owner}/${repo}`, branch, pullRequest && `#${pullRequest}`, status?.revision],
  ].join(" ");
};

const addressOf = ({ metadata }: Sync): string => `/builds/${metadata.namespace}/${metadata.name}`;

const columnsWith = (urlOf: UrlOf): readonly Column<Sync>[] => [
  ["Health", (sync) => <Health of={sync} />],
  ["Application", (sync) => <ApplicationLink sync={sync} />],
  [
    "Repository",
    (sync) => {
      const { github } = sync.spec.base;
      return (
        <span>
          <Named to={urlOf(github)}>{`${github.owner}/${github.repo}`}</Named>
          <span class="quiet small">
            <br />
            <Followed sync={sync} url={urlOf(github)} />
          </span>
        </span>
      );
    },
  ],
  ["Revision", ({ spec, status }) => <Commit sha={status?.revision} url={urlOf(spec.base.github)} />],
  ["Build", (sync) => <BuildState sync={sync} />],
  ["Created", ({ metadata }) => <Age of={metadata.creationTimestamp} />],
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

/** The state of the newest build, and its step while it runs. */
function BuildState({ sync }: { sync: RemoteSync }) {
  const built = conditionsOf(sync).find(({ type }) => type === "Built");
  if (built === undefined || built.reason === "Waiting") return <span class="quiet">none yet</span>;
  const { status, reason, message } = built;
  const number = sync.status?.buildNumber;
  return (
    <span>
      <Status tone={tones[status] ?? "busy"}>
        {number !== undefined && `#${number} `}
        {spaced(reason).toLowerCase()}
      </Status>
      {status === "Unknown" && <span class="quiet small"> {message.replace(/^build \d+(: )?/, "")}</span>}
    </span>
  );
}
