/** The list of PipeCD objects by kind. */
import type { KubeObject, Stored } from "../../../../bus/kube/object.ts";
import type { Minio, Mongo, Mysql } from "../../../../functions/pipecd/kinds.ts";
import { combineLists, useWatch, type Watched } from "../api/watch.ts";
import { Age } from "../ui/age.tsx";
import { Head } from "../ui/head.tsx";
import { namespace } from "../ui/namespace.tsx";
import { Loaded } from "../ui/states.tsx";
import { Health } from "../ui/status.tsx";
import { type Column, ObjectTable } from "../ui/table.tsx";
import { DeletionProgress, useDeleted } from "./deletionprogress.tsx";
import { screenOf, stackIn } from "./kinds.ts";
import { Connection, EventState, Parts, sourceOf } from "./status.tsx";

export function PipecdList() {
  const [registrations, applications, pipeds, environments, planes, ...stores] = useWatch(
    ...stackIn({ namespace: namespace.value || undefined }),
  );
  const all = combineLists<KubeObject>([
    registrations,
    applications,
    pipeds,
    environments,
    planes,
    ...stores,
  ]);
  const gone = useDeleted(all.items, namespace.value);
  return (
    <>
      <Head title="PipeCD" />
      <div class="stack">
        <DeletionProgress present={all.items} gone={gone} />
        <Loaded
          watched={all}
          empty={
            <>
              <h2>No PipeCD here</h2>
              <p>
                A ControlPlane runs PipeCD's gateway, server, cache, and ops. Pipeds are its agents. Create
                them with kubectl from Denrei's samples:
              </p>
              <code>
                kubectl apply -n {namespace.value || "<namespace>"} -f functions/pipecd/samples/c.yaml
              </code>
            </>
          }
        >
          {() => (
            <>
              <Section
                name="Control planes"
                of={planes}
                columns={[
                  ["Version", ({ spec }) => <code>{spec.version}</code>],
                  ["Parts", (plane) => <Parts of={plane} />],
                ]}
              />
              <Section
                name="Stores"
                of={combineLists<Minio | Mongo | Mysql>(stores)}
                columns={[
                  ["Kind", ({ kind }) => kind],
                  ["Version", ({ spec }) => <code>{spec.version ?? "default"}</code>],
                  ["Pods", ({ status }) => `${status?.availableReplicas ?? 0}/1`],
                ]}
              />
              <Section
                name="Pipeds"
                of={pipeds}
                columns={[
                  ["Version", ({ spec }) => <code>{spec.version}</code>],
                  ["Project", ({ spec }) => spec.projectID],
                  ["Connection", (piped) => <Connection of={piped} />],
                ]}
              />
              <Section
                name="Environments"
                of={environments}
                columns={[
                  ["At PipeCD", ({ spec }) => spec.name],
                  ["Project", ({ spec }) => spec.projectID],
                ]}
              />
              <Section
                name="Applications"
                of={applications}
                columns={[
                  ["At PipeCD", ({ spec }) => spec.name],
                  ["Kind", ({ spec }) => spec.kind],
                  ["Piped", ({ spec }) => spec.pipedRef.objectName],
                  ["Path", ({ spec }) => <code class="cut">{`${spec.repository}: ${spec.path}`}</code>],
                ]}
              />
              <Section
                name="Event registrations"
                of={registrations}
                columns={[
                  ["At PipeCD", ({ spec }) => spec.name],
                  ["Project", ({ spec }) => spec.projectID],
                  ["Source", ({ spec }) => sourceOf(spec)],
                  ["Event", ({ status }) => <EventState of={status} />],
                ]}
              />
            </>
          )}
        </Loaded>
      </div>
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
  columns: readonly Column<T>[];
}) {
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
        columns={[
          ["Health", (object: Stored<T>) => <Health of={object} />],
          ...columns,
          ["Created", ({ metadata }) => <Age of={metadata.creationTimestamp} />],
        ]}
      />
    </section>
  );
}
