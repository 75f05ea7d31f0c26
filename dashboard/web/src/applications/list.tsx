/** The list of Applications. */
import type { Application } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { applications, appPipelines } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { installations } from "../github/resources.ts";
import { FirstSteps } from "../start/firststeps.tsx";
import { ImageName } from "../ui/imagename.tsx";
import { OutLink } from "../ui/link.tsx";
import { ListScreen, type ListSearch } from "../ui/listscreen.tsx";
import { namespace } from "../ui/namespace.tsx";
import { type Column, createdColumn, healthColumn } from "../ui/table.tsx";
import { columnText, listText } from "./text.ts";

const search: ListSearch<Application> = {
  kinds: listText.kinds,
  textsOf: ({ spec, status }) => [...spec.domains, status?.currentImage],
};

const columns: readonly Column<Stored<Application>>[] = [
  healthColumn,
  [
    columnText.address,
    ({ status }) => <OutLink to={status?.url || undefined} />,
    "text",
    ({ status }) => status?.url || undefined,
  ],
  [
    columnText.image,
    ({ status }) => <ImageName of={status?.currentImage} />,
    "text",
    ({ status }) => status?.currentImage || undefined,
  ],
  [
    columnText.pods,
    ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas}`,
    "number",
    ({ status }) => status?.readyReplicas ?? 0,
  ],
  createdColumn,
];

export function ApplicationList() {
  const scope = { namespace: namespace.value || undefined };
  const [watched, github, preview] = useWatch(
    [applications, scope],
    [installations, scope],
    [appPipelines, scope],
  );
  return (
    <ListScreen
      path="/applications"
      resource={applications}
      text={listText}
      watched={watched}
      columns={columns}
      search={search}
    >
      <FirstSteps lists={{ github, application: watched, preview }} />
    </ListScreen>
  );
}
