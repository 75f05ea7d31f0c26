/** The screen of a PipeCD object. */
import type { KubeObject } from "denrei/kinds";
import { useRoute } from "preact-iso";
import type { Resource } from "../api/resource.ts";
import { deployments, events, pods, statefulSets } from "../api/resource.ts";
import { combineLists, useWatch, type Watched } from "../api/watch.ts";
import { Conditions } from "../ui/conditions.tsx";
import { DeleteButton } from "../ui/deletebutton.tsx";
import { Events } from "../ui/events.tsx";
import { Facts } from "../ui/facts.tsx";
import { Head } from "../ui/head.tsx";
import { ObjectScreen } from "../ui/objectscreen.tsx";
import { NotFound } from "../ui/states.tsx";
import { Health } from "../ui/status.tsx";
import { Compared } from "./compared.tsx";
import { DeletionProgress, useDeleted } from "./deletionprogress.tsx";
import { factsOf } from "./facts.tsx";
import { consequenceOf, resourceOf, runsWorkloads, stackIn } from "./kinds.ts";
import { factText, listText } from "./text.ts";
import { podsOf, Resources, type Workload } from "./tree.tsx";

const trail = ["/pipecd", listText.title] as const;

export function PipecdObject() {
  const { kind = "", namespace = "", name = "" } = useRoute().params;
  const resource = resourceOf(kind);
  if (resource === undefined) return <NotFound />;
  return <ObjectOf resource={resource} namespace={namespace} name={name} />;
}

function ObjectOf({ resource, namespace, name }: { resource: Resource; namespace: string; name: string }) {
  const scope = { namespace };
  const [eventList, deploymentList, statefulSetList, podList, ...stack] = useWatch(
    [events, scope],
    [deployments, scope],
    [statefulSets, scope],
    [pods, { ...scope, labelSelector: podsOf }],
    ...stackIn(scope),
  );
  const all = combineLists<KubeObject>(stack);
  const workloads = combineLists<Workload>([deploymentList, statefulSetList]);
  const own: Watched = stack[stackIn(scope).findIndex(([{ kind }]) => kind === resource.kind)] ?? all;
  const gone = useDeleted(all, namespace);
  const progress = <DeletionProgress present={all.items} gone={gone} />;
  const isHere = own.items.some(({ metadata }) => metadata.name === name);
  return (
    <div class={isHere ? undefined : "stack"}>
      <ObjectScreen watched={own} kind={resource.kind} name={name} trail={trail}>
        {(object) => (
          <>
            <Head title={name} trail={trail} status={<Health of={object} />}>
              <DeleteButton resource={resource} object={object} consequence={consequenceOf(resource)} />
            </Head>
            <div class="stack">
              {progress}
              <div class="columns">
                <Facts title={resource.kind} of={[[factText.namespace, namespace], ...factsOf(object)]} />
                <Conditions of={object} />
              </div>
              <Compared of={object} workloads={workloads} stack={all.items} />
              {runsWorkloads(resource) && (
                <Resources of={object} workloads={workloads} pods={podList.items} stack={all.items} />
              )}
              <Events watched={eventList} about={new Set([object.metadata.uid])} />
            </div>
          </>
        )}
      </ObjectScreen>
      {!isHere && progress}
    </div>
  );
}
