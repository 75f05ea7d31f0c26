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
import { listText, factText as text } from "./text.ts";

const { sections } = listText;

const nameInPipecd: Column<Stored<Environment | Application | EventRegistration>> = [
  text.name,
  ({ spec }) => spec.name,
  "text",
  ({ spec }) => spec.name,
];

const pathOf = ({ repository, path }: Application["spec"]): string => `${repository}: ${path}`;

const planeColumns: readonly Column<Stored<ControlPlane>>[] = [
  healthColumn,
  [text.version, ({ spec }) => <code>{spec.version}</code>],
  [text.parts, (plane) => <Parts of={plane} />],
  createdColumn,
];
const storeColumns: readonly Column<Stored<Minio | Mongo | Mysql>>[] = [
  healthColumn,
  [text.kind, ({ kind }) => kind, "text", ({ kind }) => kind],
  [text.version, ({ spec }) => <code>{spec.version ?? text.defaultVersion}</code>],
  [text.pods, ({ status }) => `${status?.availableReplicas ?? 0}/1`],
  createdColumn,
];
const pipedColumns: readonly Column<Stored<Piped>>[] = [
  healthColumn,
  [text.version, ({ spec }) => <code>{spec.version}</code>, "text", ({ spec }) => spec.version],
  [text.project, ({ spec }) => spec.projectID, "text", ({ spec }) => spec.projectID],
  [text.connection, (piped) => <Connection of={piped} />],
  createdColumn,
];
const environmentColumns: readonly Column<Stored<Environment>>[] = [
  healthColumn,
  nameInPipecd,
  [text.project, ({ spec }) => spec.projectID, "text", ({ spec }) => spec.projectID],
  createdColumn,
];
const applicationColumns: readonly Column<Stored<Application>>[] = [
  healthColumn,
  nameInPipecd,
  [text.kind, ({ spec }) => spec.kind, "text", ({ spec }) => spec.kind],
  [text.piped, ({ spec }) => spec.pipedRef.objectName, "text", ({ spec }) => spec.pipedRef.objectName],
  [text.path, ({ spec }) => <code>{pathOf(spec)}</code>, "text", ({ spec }) => pathOf(spec)],
  createdColumn,
];
const registrationColumns: readonly Column<Stored<EventRegistration>>[] = [
  healthColumn,
  nameInPipecd,
  [text.project, ({ spec }) => spec.projectID, "text", ({ spec }) => spec.projectID],
  [text.source, ({ spec }) => sourceOf(spec), "text", ({ spec }) => sourceOf(spec)],
  [text.event, ({ status }) => <EventState of={status} />],
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
      <Head title={listText.title} />
      <div class="stack">
        <DeletionProgress present={all.items} gone={gone} />
        <Loaded watched={all} empty={<Introduction />}>
          {(items) => (
            <Searchable items={items} text={textOf} tone={toneOf} what={listText.what}>
              {(found) => {
                const shown: ReadonlySet<Stored> = new Set(found);
                return (
                  <>
                    <Section name={sections.planes} of={planes} shown={shown} columns={planeColumns} />
                    <Section
                      name={sections.stores}
                      of={combineLists<Minio | Mongo | Mysql>(stores)}
                      shown={shown}
                      columns={storeColumns}
                    />
                    <Section name={sections.pipeds} of={pipeds} shown={shown} columns={pipedColumns} />
                    <Section
                      name={sections.environments}
                      of={environments}
                      shown={shown}
                      columns={environmentColumns}
                    />
                    <Section
                      name={sections.applications}
                      of={applications}
                      shown={shown}
                      columns={applicationColumns}
                    />
                    <Section
                      name={sections.registrations}
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
      <h2>{listText.none}</h2>
      <p>{listText.about}</p>
      <code>
        kubectl apply -n {namespace.value || listText.anyNamespace} -f functions/pipecd/samples/c.yaml
      </code>
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
