/** All RemoteSyncs, live. */
import { memo } from "preact/compat";
import type { Stored } from "../../../../bus/kube/object.ts";
import type { Image } from "../../../../functions/paas/kinds/kpack.ts";
import type { RemoteSync } from "../../../../functions/paas/kinds.ts";
import { labels } from "../../../../functions/paas/names.ts";
import { images, remoteSyncs } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { Age } from "../ui/age.tsx";
import { Findable } from "../ui/findable.tsx";
import { Head } from "../ui/head.tsx";
import { namespace } from "../ui/namespace.tsx";
import { Loaded } from "../ui/states.tsx";
import { conditionsOf, Health, healthOf, Status, spaced, type Tone } from "../ui/status.tsx";
import { Commit, Followed, Named, repositoryUrl } from "./repository.tsx";

/** The screen. */
export function RemoteSyncList() {
  const place = { namespace: namespace.value || undefined };
  const [found, cloned] = useWatch(
    [remoteSyncs, place],
    [images, { ...place, labelSelector: labels.remoteSync }],
  );
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
            <h2>Nothing is built here yet</h2>
            <p>
              A RemoteSync builds an Application's image from a branch, a pull request or a commit, and anew
              with each commit that comes.
            </p>
            <a href="/builds/new">Build the first repository</a>
          </>
        }
      >
        {(items) => (
          <Findable items={items} text={textOf} what="RemoteSyncs">
            {(shown) => <Table items={shown} images={cloned.items} />}
          </Findable>
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

function Table({ items, images }: { items: readonly Sync[]; images: readonly Image[] }) {
  return (
    <div class="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Health</th>
            <th scope="col">Application</th>
            <th scope="col">Repository</th>
            <th scope="col">Revision</th>
            <th scope="col">Build</th>
            <th scope="col">Created</th>
          </tr>
        </thead>
        <tbody>
          {items.map((sync) => (
            <Row key={sync.metadata.uid} sync={sync} url={repositoryUrl(images, sync.spec.base.github)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Drawn anew only when its RemoteSync is another one. */
const Row = memo(({ sync, url }: { sync: Sync; url: string | undefined }) => {
  const { metadata, spec, status } = sync;
  const { owner, repo } = spec.base.github;
  const application = spec.applicationRef.name;
  return (
    <tr>
      <th scope="row" data-label="Name">
        <span>
          <a href={`/builds/${metadata.namespace}/${metadata.name}`}>{metadata.name}</a>
          {namespace.value === "" && <span class="quiet small"> {metadata.namespace}</span>}
        </span>
      </th>
      <td data-label="Health">
        <Health of={sync} />
      </td>
      <td data-label="Application">
        <span>
          <a href={`/applications/${metadata.namespace}/${application}`}>{application}</a>
        </span>
      </td>
      <td data-label="Repository">
        <span>
          <Named to={url}>{`${owner}/${repo}`}</Named>
          <span class="quiet small">
            <br />
            <Followed sync={sync} url={url} />
          </span>
        </span>
      </td>
      <td data-label="Revision">
        <Commit sha={status?.revision} url={url} />
      </td>
      <td data-label="Build">
        <BuildState sync={sync} />
      </td>
      <td data-label="Created">
        <Age of={metadata.creationTimestamp} />
      </td>
    </tr>
  );
});

const tones: Readonly<Record<string, Tone>> = { True: "good", False: "bad", Unknown: "busy" };

/** The state of the newest build; of one that runs, the step as well: `build 3: detect`. */
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
