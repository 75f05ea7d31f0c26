/** Nodes of workloads and their pods. */
import { controllerOf, type KubeObject, type Stored } from "denrei/kinds";
import type { PodObject } from "../../api/kubernetes.ts";
import { healthOfAny } from "./health.ts";
import type { TreeNode } from "./node.ts";
import { text } from "./text.ts";

/** The Deployment controller labels each pod with the suffix of its ReplicaSet's name. */
const hashLabel = "pod-template-hash";

/** What a pod names as its workload. The page does not read ReplicaSets. */
export interface Workload {
  readonly kind: string;
  readonly name: string;
  readonly uid?: string | undefined;
}

/** Whether a workload runs the pod. */
export function isPodOf({ kind, name, uid }: Workload, pod: PodObject): boolean {
  const owner = controllerOf(pod);
  if (owner === undefined) return false;
  if (kind === "Deployment")
    return owner.kind === "ReplicaSet" && owner.name === `${name}-${pod.metadata.labels?.[hashLabel]}`;
  return owner.kind === kind && (uid === undefined ? owner.name === name : owner.uid === uid);
}

/** The node of an object that was read. */
export function nodeOf(
  object: Stored,
  more: Partial<Pick<TreeNode, "children" | "screen" | "log">> = {},
): TreeNode {
  const { kind, metadata } = object;
  return {
    key: metadata.uid,
    kind,
    name: metadata.name,
    health: healthOfAny(object),
    note: availabilityOf(object),
    created: metadata.creationTimestamp,
    ...more,
  };
}

function availabilityOf({ apiVersion, spec, status }: KubeObject): string | undefined {
  if (apiVersion !== "apps/v1") return undefined;
  const { replicas = 1 } = spec as { readonly replicas?: number };
  const { availableReplicas = 0 } = (status ?? {}) as { readonly availableReplicas?: number };
  return text.available(availableReplicas, replicas);
}

/** The nodes of pods. `logOf` is the address of a pod's log, if it has one. */
export const podNodes = (
  pods: readonly Stored<PodObject>[],
  logOf: (pod: Stored<PodObject>) => string | undefined = () => undefined,
): readonly TreeNode[] => pods.map((pod) => nodeOf(pod, { log: logOf(pod) }));
