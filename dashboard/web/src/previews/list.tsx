/** The list of AppPipelines. */
import type { AppPipeline } from "@denrei/functions/paas/kinds";
import { labels } from "@denrei/functions/paas/names";
import type { Stored } from "denrei/kinds";
import { useMemo } from "preact/hooks";
import { appPipelines, images } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { OptionalLink, type UrlOf, useUrlOf } from "../builds/repository.tsx";
import { ListScreen, type ListSearch } from "../ui/listscreen.tsx";
import { namespace } from "../ui/namespace.tsx";
import { type Column, createdColumn, healthColumn } from "../ui/table.tsx";
import { columnText, listText } from "./text.ts";

const search: ListSearch<AppPipeline> = {
  kinds: listText.kinds,
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
      text={listText}
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
    columnText.repository,
    ({ spec: { base } }) => (
      <span>
        <OptionalLink to={urlOf(base.github)}>{`${base.github.owner}/${base.github.repo}`}</OptionalLink>
      </span>
    ),
    "text",
    ({ spec: { base } }) => `${base.github.owner}/${base.github.repo}`,
  ],
  [columnText.open, ({ status }) => status?.open ?? "", "number", ({ status }) => status?.open],
  [columnText.ready, ({ status }) => readyIn(status), "number", ({ status }) => readyIn(status)],
  [columnText.domain, ({ spec }) => spec.domainBase, "text", ({ spec }) => spec.domainBase],
  createdColumn,
];
