/** All AppPipelines, live. */
import { memo } from "preact/compat";
import type { Stored } from "../../../../bus/kube/object.ts";
import type { Image } from "../../../../functions/paas/kinds/kpack.ts";
import type { AppPipeline } from "../../../../functions/paas/kinds.ts";
import { labels } from "../../../../functions/paas/names.ts";
import { appPipelines, images } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { Named, repositoryUrl } from "../builds/repository.tsx";
import { Age } from "../ui/age.tsx";
import { Findable } from "../ui/findable.tsx";
import { Head } from "../ui/head.tsx";
import { namespace } from "../ui/namespace.tsx";
import { Loaded } from "../ui/states.tsx";
import { Health, healthOf } from "../ui/status.tsx";

/** The screen. */
export function PipelineList() {
  const place = { namespace: namespace.value || undefined };
  const [found, cloned] = useWatch(
    [appPipelines, place],
    [images, { ...place, labelSelector: labels.remoteSync }],
  );
  return (
    <>
      <Head title="Previews">
        <a class="button primary" href="/previews/new">
          Preview a repository
        </a>
      </Head>
      <Loaded
        watched={found}
        empty={
          <>
            <h2>Nothing is previewed here yet</h2>
            <p>
              An AppPipeline builds and runs each open pull request of a repository, at an address of its own,
              and tells GitHub where that is.
            </p>
            <a href="/previews/new">Preview the first repository</a>
          </>
        }
      >
        {(items) => (
          <Findable items={items} text={textOf} what="AppPipelines">
            {(shown) => <Table items={shown} images={cloned.items} />}
          </Findable>
        )}
      </Loaded>
    </>
  );
}

type Pipeline = Stored<AppPipeline>;

const textOf = (pipeline: Pipeline): string => {
  const { metadata, spec } = pipeline;
  const { owner, repo } = spec.base.github;
  return [metadata.namespace, metadata.name, healthOf(pipeline)[1], `${owner}/${repo}`, spec.domainBase].join(
    " ",
  );
};

function Table({ items, images }: { items: readonly Pipeline[]; images: readonly Image[] }) {
  return (
    <div class="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Health</th>
            <th scope="col">Repository</th>
            <th scope="col" class="number">
              Open
            </th>
            <th scope="col" class="number">
              Ready
            </th>
            <th scope="col">Domain</th>
            <th scope="col">Created</th>
          </tr>
        </thead>
        <tbody>
          {items.map((pipeline) => (
            <Row
              key={pipeline.metadata.uid}
              pipeline={pipeline}
              url={repositoryUrl(images, pipeline.spec.base.github)}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Drawn anew only when its AppPipeline is another one. */
const Row = memo(({ pipeline, url }: { pipeline: Pipeline; url: string | undefined }) => {
  const { metadata, spec, status } = pipeline;
  const { owner, repo } = spec.base.github;
  const previews = status?.previews ?? [];
  return (
    <tr>
      <th scope="row" data-label="Name">
        <span>
          <a href={`/previews/${metadata.namespace}/${metadata.name}`}>{metadata.name}</a>
          {namespace.value === "" && <span class="quiet small"> {metadata.namespace}</span>}
        </span>
      </th>
      <td data-label="Health">
        <Health of={pipeline} />
      </td>
      <td data-label="Repository">
        <span>
          <Named to={url}>{`${owner}/${repo}`}</Named>
        </span>
      </td>
      <td class="number" data-label="Open">
        {status?.open ?? ""}
      </td>
      <td class="number" data-label="Ready">
        {status && previews.filter(({ phase }) => phase === "Ready").length}
      </td>
      <td data-label="Domain">{spec.domainBase}</td>
      <td data-label="Created">
        <Age of={metadata.creationTimestamp} />
      </td>
    </tr>
  );
});
