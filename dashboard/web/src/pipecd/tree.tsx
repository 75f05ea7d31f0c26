/** The resource tree of a PipeCD object. */
import type { Application } from "@denrei/functions/pipecd/kinds";
import { controllerOf, type Deployment, type KubeObject, type StatefulSet, type Stored } from "denrei/kinds";
import type { PodObject } from "../api/kubernetes.ts";
import type { Watched } from "../api/watch.ts";
import { Loaded } from "../ui/states.tsx";
import type { TreeNode } from "../ui/tree/node.ts";
import { text } from "../ui/tree/text.ts";
import { Tree } from "../ui/tree/tree.tsx";
import { isPodOf, nodeOf, podNodes } from "../ui/tree/workloads.ts";
import { screenOf } from "./kinds.ts";
import { treeText } from "./text.ts";

/** A kind that runs pods. */
export type Workload = Deployment | StatefulSet;

/** Selects the pods of all PipeCD objects. */
export const podsOf = "app.kubernetes.io/name in (pipecd,piped)";

/** The object, its workloads with their pods, and the Applications that a Piped deploys. */
export function Resources({
  of: object,
  workloads,
  pods,
  stack,
}: {
  of: Stored;
  workloads: Watched<Workload>;
  pods: readonly Stored<PodObject>[];
  /** All PipeCD objects of the namespace. */
  stack: readonly Stored[];
}) {
  const items = workloads.items.filter((workload) => controllerOf(workload)?.uid === object.metadata.uid);
  const deployed = stack.filter((other) => isDeployedBy(object, other));
  const children = [
    ...items.map((workload) => workloadNode(workload, pods)),
    ...deployed.map((application) => nodeOf(application, { screen: screenOf(application) })),
  ];
  return (
    <section class="card" aria-labelledby="children">
      <header>
        <h2 id="children">{text.title}</h2>
      </header>
      <Loaded watched={{ ...workloads, items }} empty={<p>{treeText.noWorkloads}</p>}>
        {() => <Tree root={nodeOf(object, { children })} />}
      </Loaded>
    </section>
  );
}

function workloadNode(workload: Stored<Workload>, pods: readonly Stored<PodObject>[]): TreeNode {
  const { kind, metadata } = workload;
  const of = { kind, name: metadata.name, uid: metadata.uid };
  return nodeOf(workload, { children: podNodes(pods.filter((pod) => isPodOf(of, pod))) });
}

/** PipeCD's Applications name the Piped that deploys them. */
const isDeployedBy = (piped: KubeObject, { kind, spec }: KubeObject): boolean =>
  piped.kind === "Piped" &&
  kind === "Application" &&
  (spec as Application["spec"]).pipedRef.objectName === piped.metadata.name;
