/**
 * The health of Kubernetes' own kinds, by the conventions of kstatus.
 * https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md
 */
import { type Deployment, type KubeObject, rolloutOf, type StatefulSet } from "denrei/kinds";
import type { PodObject, ServiceObject } from "../../api/kubernetes.ts";
import { healthOf, type Tone } from "../health.ts";
import { podState } from "../podstate.ts";
import { text } from "./text.ts";

type Health = readonly [Tone, string];

const rollouts = {
  progressing: ["busy", text.rollingOut],
  failed: ["bad", text.rolloutFailed],
} as const;

function deploymentHealth(deployment: Deployment): Health {
  const { state } = rolloutOf(deployment);
  if (state !== "done") return rollouts[state];
  return deployment.spec.replicas === 0 ? ["off", text.scaledToZero] : ["good", text.ready];
}

function statefulSetHealth({ metadata, spec, status = {} }: StatefulSet): Health {
  const { replicas: desired = 1 } = spec;
  const { observedGeneration = 0, availableReplicas = 0, updatedReplicas = 0 } = status;
  const isCurrent = observedGeneration >= (metadata.generation ?? 0);
  if (!isCurrent || availableReplicas < desired || updatedReplicas < desired) return rollouts.progressing;
  return desired === 0 ? ["off", text.scaledToZero] : ["good", text.ready];
}

function serviceHealth({ spec, status }: ServiceObject): Health {
  const waits = spec.type === "LoadBalancer" && !status?.loadBalancer?.ingress?.length;
  return waits ? ["busy", text.waitingForAddress] : ["good", text.ready];
}

const readers: Readonly<Record<string, (object: never) => Health>> = {
  "apps/v1 Deployment": deploymentHealth,
  "apps/v1 StatefulSet": statefulSetHealth,
  "v1 Service": serviceHealth,
  "v1 Pod": (pod: PodObject) => podState(pod),
};

/** The health of any object. */
export function healthOfAny(object: KubeObject): Health {
  if (object.metadata.deletionTimestamp !== undefined) return ["busy", text.deleting];
  return (readers[`${object.apiVersion} ${object.kind}`] ?? healthOf)(object as never);
}
