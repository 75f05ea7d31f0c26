/** The Deployments and StatefulSets of an object. */
import { controllerOf, type Deployment, type KubeObject, type StatefulSet, type Stored } from "denrei/kinds";
import type { Watched } from "../api/watch.ts";
import { Loaded } from "../ui/states.tsx";
import { Status } from "../ui/status.tsx";
import { type Column, createdColumn, ObjectTable } from "../ui/table.tsx";

/** A kind that runs pods. */
export type Workload = Deployment | StatefulSet;

const componentOf = ({ metadata }: Workload): string =>
  metadata.labels?.["app.kubernetes.io/component"] ?? "";

const columns: readonly Column<Stored<Workload>>[] = [
  ["Kind", ({ kind }) => kind, "text", ({ kind }) => kind],
  ["Component", componentOf, "text", componentOf],
  ["Pods", (workload) => <Pods of={workload} />],
  createdColumn,
];

/** A table of the workloads that the object controls. */
export function Workloads({ of: owner, watched }: { of: Stored; watched: Watched<Workload> }) {
  const items = watched.items.filter(
    (object: KubeObject) => controllerOf(object)?.uid === owner.metadata.uid,
  );
  return (
    <section class="card" aria-labelledby="children">
      <header>
        <h2 id="children">Workloads</h2>
      </header>
      <Loaded watched={{ ...watched, items }} empty={<p>No workloads.</p>}>
        {(workloads) => <ObjectTable objects={workloads} columns={columns} />}
      </Loaded>
    </section>
  );
}

function Pods({ of: { metadata, spec, status } }: { of: Stored<Workload> }) {
  const { replicas: desired = 1 } = spec;
  const available = status?.availableReplicas ?? 0;
  const isGoing = metadata.deletionTimestamp !== undefined;
  return (
    <Status tone={isGoing || available < desired ? "busy" : "good"}>
      {isGoing ? "Deleting" : `${available}/${desired} available`}
    </Status>
  );
}
