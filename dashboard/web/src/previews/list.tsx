/** The list of AppPipelines. */
import { useMemo } from "preact/hooks";
import type { Stored } from "../../../../bus/kube/object.ts";
import type { AppPipeline } from "../../../../functions/paas/kinds.ts";
import { labels } from "../../../../functions/paas/names.ts";
import { appPipelines, images } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { Named, type UrlOf, useUrlOf } from "../builds/repository.tsx";
import { Age } from "../ui/age.tsx";
import { Head } from "../ui/head.tsx";
import { namespace } from "../ui/namespace.tsx";
import { Searchable } from "../ui/searchable.tsx";
import { Loaded } from "../ui/states.tsx";
import { Health, healthOf } from "../ui/status.tsx";
import { type Column, ObjectTable } from "../ui/table.tsx";

export function PipelineList() {
  const place = { namespace: namespace.value || undefined };
  const [found, cloned] = useWatch(
    [appPipelines, place],
    [images, { ...place, labelSelector: labels.remoteSync }],
  );
  const urlOf = useUrlOf(cloned.items);
  const columns = useMemo(() => columnsWith(urlOf), [urlOf]);
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
            <h2>No AppPipelines here yet</h2>
            <p>
              An AppPipeline builds and runs each open pull request of a repository at its own address, and
              reports the address to GitHub.
            </p>
            <a href="/previews/new">Preview the first repository</a>
          </>
        }
      >
        {(items) => (
          <Searchable items={items} text={textOf} what="AppPipelines">
            {(shown) => <ObjectTable objects={shown} to={addressOf} columns={columns} />}
          </Searchable>
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

const addressOf = ({ metadata }: Pipeline): string => `/previews/${metadata.namespace}/${metadata.name}`;

const columnsWith = (urlOf: UrlOf): readonly Column<Pipeline>[] => [
  ["Health", (pipeline) => <Health of={pipeline} />],
  [
    "Repository",
    ({ spec: { base } }) => (
      <span>
        <Named to={urlOf(base.github)}>{`${base.github.owner}/${base.github.repo}`}</Named>
      </span>
    ),
  ],
  ["Open", ({ status }) => status?.open ?? "", "number"],
  [
    "Ready",
    ({ status }) => status && (status.previews ?? []).filter(({ phase }) => phase === "Ready").length,
    "number",
  ],
  ["Domain", ({ spec }) => spec.domainBase],
  ["Created", ({ metadata }) => <Age of={metadata.creationTimestamp} />],
];
