/** What runs for an object: its Deployments and StatefulSets. */
import { controllerOf, type KubeObject, type Stored } from "../../../../bus/kube/object.ts";
import type { Deployment, StatefulSet } from "../../../../bus/kube/workloads.ts";
import type { Watched } from "../api/watch.ts";
import { Age } from "../ui/age.tsx";
import { Loaded } from "../ui/states.tsx";
import { Status } from "../ui/status.tsx";
import { ObjectTable } from "../ui/table.tsx";

/** What runs pods. */
export type Workload = Deployment | StatefulSet;

/** A table of them. */
export function Children({ of: owner, watched }: { of: Stored; watched: Watched<Workload> }) {
  const items = watched.items.filter(
    (object: KubeObject) => controllerOf(object)?.uid === owner.metadata.uid,
  );
  return (
    <section class="card" aria-labelledby="children">
      <header>
        <h2 id="children">What runs for it</h2>
      </header>
      <Loaded watched={{ ...watched, items }} empty={<p>Nothing runs for it: not yet, or not any more.</p>}>
        {(workloads) => (
          <ObjectTable
            objects={workloads}
            columns={[
              ["Kind", ({ kind }) => kind],
              ["Part", ({ metadata }) => metadata.labels?.["app.kubernetes.io/component"] ?? ""],
              ["Pods", (workload) => <Pods of={workload} />],
              ["Created", ({ metadata }) => <Age of={metadata.creationTimestamp} />],
            ]}
          />
        )}
      </Loaded>
    </section>
  );
}

function Pods({ of: { metadata, spec, status } }: { of: Stored<Workload> }) {
  const { replicas: wanted = 1 } = spec;
  const available = status?.availableReplicas ?? 0;
  const isGoing = metadata.deletionTimestamp !== undefined;
  return (
    <Status tone={isGoing || available < wanted ? "busy" : "good"}>
      {isGoing ? "Going" : `${available}/${wanted} available`}
    </Status>
  );
}
