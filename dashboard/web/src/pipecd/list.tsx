/** The list of PipeCD objects by kind. */
import type {
  Application,
  ControlPlane,
  Environment,
  EventRegistration,
  Minio,
  Mongo,
  Mysql,
  Piped,
} from "@denrei/functions/pipecd/kinds";
import type { KubeObject, Stored } from "denrei/kinds";
import { combineLists, useWatch, type Watched } from "../api/watch.ts";
import { Head } from "../ui/head.tsx";
import { searchText, toneOf } from "../ui/listscreen.tsx";
import { namespace, useNamespaceInAddress } from "../ui/namespace.tsx";
import { Searchable } from "../ui/searchable.tsx";
import { Loaded } from "../ui/states.tsx";
import { type Column, createdColumn, healthColumn, ObjectTable } from "../ui/table.tsx";
import { DeletionProgress, useDeleted } from "./deletionprogress.tsx";
import { screenOf, stackIn } from "./kinds.ts";
import { Connection, EventState, Parts, sourceOf } from "./status.tsx";

const nameInPipecd: Column<Stored<Environment | Application | EventRegistration>> = [
  "Name in PipeCD",
  ({ spec }) => spec.name,
  "text",
  ({ spec }) => spec.name,
];

const pathOf = ({ repository, path }: Application["spec"]): string => `${repository}: ${path}`;

const planeColumns: readonly Column<Stored<ControlPlane>>[] = [
  healthColumn,
  ["Version", ({ spec }) => <code>{spec.version}</code>],
  ["Parts", (plane) => <Parts of={plane} />],
  createdColumn,
];
const storeColumns: readonly Column<Stored<Minio | Mongo | Mysql>>[] = [
  healthColumn,
  ["Kind", ({ kind }) => kind, "text", ({ kind }) => kind],
  ["Version", ({ spec }) => <code>{spec.version ?? "default"}</code>],
  ["Pods", ({ status }) => `${status?.availableReplicas ?? 0}/1`],
  createdColumn,
];
const pipedColumns: readonly Column<Stored<Piped>>[] = [
  healthColumn,
  ["Version", ({ spec }) => <code>{spec.version}</code>, "text", ({ spec }) => spec.version],
  ["Project", ({ spec }) => spec.projectID, "text", ({ spec }) => spec.projectID],
  ["Connection", (piped) => <Connection of={piped} />],
  createdColumn,
];
const environmentColumns: readonly Column<Stored<Environment>>[] = [
  healthColumn,
  nameInPipecd,
  ["Project", ({ spec }) => spec.projectID, "text", ({ spec }) => spec.projectID],
  createdColumn,
];
const applicationColumns: readonly Column<Stored<Application>>[] = [
  healthColumn,
  nameInPipecd,
  ["Kind", ({ spec }) => spec.kind, "text", ({ spec }) => spec.kind],
  ["Piped", ({ spec }) => spec.pipedRef.objectName, "text", ({ spec }) => spec.pipedRef.objectName],
  ["Path", ({ spec }) => <code>{pathOf(spec)}</code>, "text", ({ spec }) => pathOf(spec)],
  createdColumn,
];
const registrationColumns: readonly Column<Stored<EventRegistration>>[] = [
  healthColumn,
  nameInPipecd,
  ["Project", ({ spec }) => spec.projectID, "text", ({ spec }) => spec.projectID],
  ["Source", ({ spec }) => sourceOf(spec), "text", ({ spec }) => sourceOf(spec)],
  ["Event", ({ status }) => <EventState of={status} />],
  createdColumn,
];

export function PipecdList() {
  useNamespaceInAddress();
  const stack = useWatch(...stackIn({ namespace: namespace.value || undefined }));
  const [registrations, applications, pipeds, environments, planes, ...stores] = stack;
  const all = combineLists<KubeObject>(stack);
  const gone = useDeleted(all, namespace.value);
  return (
    <>
      <Head title="PipeCD" />
      <div class="stack">
        <DeletionProgress present={all.items} gone={gone} />
        <Loaded watched={all} empty={<Introduction />}>
          {(items) => (
            <Searchable items={items} text={textOf} tone={toneOf} what="PipeCD objects">
              {(found) => {
                const shown: ReadonlySet<Stored> = new Set(found);
                return (
                  <>
                    <Section name="Control planes" of={planes} shown={shown} columns={planeColumns} />
                    <Section
                      name="Stores"
                      of={combineLists<Minio | Mongo | Mysql>(stores)}
                      shown={shown}
                      columns={storeColumns}
                    />
                    <Section name="Pipeds" of={pipeds} shown={shown} columns={pipedColumns} />
                    <Section
                      name="Environments"
                      of={environments}
                      shown={shown}
                      columns={environmentColumns}
                    />
                    <Section
                      name="Applications"
                      of={applications}
                      shown={shown}
                      columns={applicationColumns}
                    />
                    <Section
                      name="Event registrations"
                      of={registrations}
                      shown={shown}
                      columns={registrationColumns}
                    />
                  </>
                );
              }}
            </Searchable>
          )}
        </Loaded>
      </div>
    </>
  );
}

const textOf = (object: Stored): string => searchText(object, { textsOf: ({ kind }) => [kind] });

function Introduction() {
  return (
    <>
      <h2>No PipeCD here</h2>
      <p>
        A ControlPlane runs PipeCD's gateway, server, cache, and ops. Pipeds are its agents. Create them with
        kubectl from Denrei's samples:
      </p>
      <code>kubectl apply -n {namespace.value || "<namespace>"} -f functions/pipecd/samples/c.yaml</code>
    </>
  );
}

function Section<T extends KubeObject>({
  name,
  of: list,
  shown,
  columns,
}: {
  name: string;
  of: Watched<T>;
  /** The objects that match the filters. */
  shown: ReadonlySet<Stored>;
  columns: readonly Column<Stored<T>>[];
}) {
  const items = list.items.filter((item) => shown.has(item));
  if (items.length === 0) return null;
  return (
    <section class="stack" aria-label={name}>
      <div class="row">
        <h2>{name}</h2>
        <span class="quiet small">{items.length}</span>
      </div>
      <ObjectTable
        objects={items}
        to={screenOf}
        columns={columns}
        sortParameter={`sort-${name.toLowerCase().replaceAll(" ", "-")}`}
      />
    </section>
  );
}
