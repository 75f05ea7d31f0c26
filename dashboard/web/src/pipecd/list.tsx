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
import { namespace, useNamespaceInAddress } from "../ui/namespace.tsx";
import { Loaded } from "../ui/states.tsx";
import { type Column, createdColumn, healthColumn, ObjectTable } from "../ui/table.tsx";
import { DeletionProgress, useDeleted } from "./deletionprogress.tsx";
import { screenOf, stackIn } from "./kinds.ts";
import { Connection, EventState, Parts, sourceOf } from "./status.tsx";

const planeColumns: readonly Column<Stored<ControlPlane>>[] = [
  ["Version", ({ spec }) => <code>{spec.version}</code>],
  ["Parts", (plane) => <Parts of={plane} />],
];
const storeColumns: readonly Column<Stored<Minio | Mongo | Mysql>>[] = [
  ["Kind", ({ kind }) => kind],
  ["Version", ({ spec }) => <code>{spec.version ?? "default"}</code>],
  ["Pods", ({ status }) => `${status?.availableReplicas ?? 0}/1`],
];
const pipedColumns: readonly Column<Stored<Piped>>[] = [
  ["Version", ({ spec }) => <code>{spec.version}</code>],
  ["Project", ({ spec }) => spec.projectID],
  ["Connection", (piped) => <Connection of={piped} />],
];
const environmentColumns: readonly Column<Stored<Environment>>[] = [
  ["Name in PipeCD", ({ spec }) => spec.name],
  ["Project", ({ spec }) => spec.projectID],
];
const applicationColumns: readonly Column<Stored<Application>>[] = [
  ["Name in PipeCD", ({ spec }) => spec.name],
  ["Kind", ({ spec }) => spec.kind],
  ["Piped", ({ spec }) => spec.pipedRef.objectName],
  ["Path", ({ spec }) => <code class="cut">{`${spec.repository}: ${spec.path}`}</code>],
];
const registrationColumns: readonly Column<Stored<EventRegistration>>[] = [
  ["Name in PipeCD", ({ spec }) => spec.name],
  ["Project", ({ spec }) => spec.projectID],
  ["Source", ({ spec }) => sourceOf(spec)],
  ["Event", ({ status }) => <EventState of={status} />],
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
          {() => (
            <>
              <Section name="Control planes" of={planes} columns={planeColumns} />
              <Section
                name="Stores"
                of={combineLists<Minio | Mongo | Mysql>(stores)}
                columns={storeColumns}
              />
              <Section name="Pipeds" of={pipeds} columns={pipedColumns} />
              <Section name="Environments" of={environments} columns={environmentColumns} />
              <Section name="Applications" of={applications} columns={applicationColumns} />
              <Section name="Event registrations" of={registrations} columns={registrationColumns} />
            </>
          )}
        </Loaded>
      </div>
    </>
  );
}

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
  of: { items },
  columns,
}: {
  name: string;
  of: Watched<T>;
  columns: readonly Column<Stored<T>>[];
}) {
  if (items.length === 0) return null;
  return (
    <section class="stack" aria-label={name}>
      <div class="row">
        <h2>{name}</h2>
        <span class="quiet small">{items.length}</span>
      </div>
      <ObjectTable objects={items} to={screenOf} columns={[healthColumn, ...columns, createdColumn]} />
    </section>
  );
}
