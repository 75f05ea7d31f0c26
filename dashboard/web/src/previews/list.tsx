/** The list of AppPipelines. */
import type { AppPipeline } from "@denrei/functions/paas/kinds";
import { labels } from "@denrei/functions/paas/names";
import type { Stored } from "denrei/kinds";
import { useMemo } from "preact/hooks";
import { appPipelines, images } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { OptionalLink, type UrlOf, useUrlOf } from "../builds/repository.tsx";
import { ListScreen, type ListSearch, type ListText } from "../ui/listscreen.tsx";
import { namespace } from "../ui/namespace.tsx";
import { type Column, createdColumn, healthColumn } from "../ui/table.tsx";

const text: ListText = {
  title: "Previews",
  create: "Preview a repository",
  none: "No AppPipelines here yet",
  about:
    "An AppPipeline builds and runs each open pull request of a repository at its own address, and reports the address to GitHub.",
  createFirst: "Preview the first repository",
};

const search: ListSearch<AppPipeline> = {
  kinds: "AppPipelines",
  textsOf({ spec }) {
    const { owner, repo } = spec.base.github;
    return [`${owner}/${repo}`, spec.domainBase];
  },
};

export function PipelineList() {
  const scope = { namespace: namespace.value || undefined };
  const [watched, imageList] = useWatch(
    [appPipelines, scope],
    [images, { ...scope, labelSelector: labels.remoteSync }],
  );
  const urlOf = useUrlOf(imageList.items);
  const columns = useMemo(() => columnsWith(urlOf), [urlOf]);
  return (
    <ListScreen
      path="/previews"
      resource={appPipelines}
      text={text}
      watched={watched}
      columns={columns}
      search={search}
    />
  );
}

/** The number of previews that are ready. */
const readyIn = (status: AppPipeline["status"]): number | undefined =>
  status && (status.previews ?? []).filter(({ phase }) => phase === "Ready").length;

const columnsWith = (urlOf: UrlOf): readonly Column<Stored<AppPipeline>>[] => [
  healthColumn,
  [
    "Repository",
    ({ spec: { base } }) => (
      <span>
        <OptionalLink to={urlOf(base.github)}>{`${base.github.owner}/${base.github.repo}`}</OptionalLink>
      </span>
    ),
    "text",
    ({ spec: { base } }) => `${base.github.owner}/${base.github.repo}`,
  ],
  ["Open", ({ status }) => status?.open ?? "", "number", ({ status }) => status?.open],
  ["Ready", ({ status }) => readyIn(status), "number", ({ status }) => readyIn(status)],
  ["Domain", ({ spec }) => spec.domainBase, "text", ({ spec }) => spec.domainBase],
  createdColumn,
];
