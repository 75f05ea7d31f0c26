/**
 * Progress of a Deployment's rollout. Pure; follows `kubectl rollout status` and kstatus:
 * https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md
 */
import type { KubeObject } from "./object.ts";

/** A Deployment, reduced to the fields in use. */
export type DeploymentObject = KubeObject<
  {
    readonly replicas?: number;
    readonly selector?: {
      readonly matchLabels?: Readonly<Record<string, string>>;
      readonly matchExpressions?: readonly {
        readonly key: string;
        readonly operator: string;
        readonly values?: readonly string[];
      }[];
    };
    readonly template?: {
      readonly spec?: { readonly containers?: readonly { readonly image?: string }[] };
    };
  },
  {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  }
>;

/** State of a rollout. */
export interface Rollout {
  readonly state: "done" | "progressing" | "failed";
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

const progressing = (message: string): Rollout => ({ state: "progressing", reason: "Progressing", message });

/** The rollout of one Deployment. */
export function rolloutOf({ metadata, spec, status = {} }: DeploymentObject): Rollout {
  const { name, generation = 0 } = metadata;
  const desired = spec.replicas ?? 1;
  const {
    observedGeneration = 0,
    replicas = 0,
    updatedReplicas = 0,
    availableReplicas = 0,
    conditions = [],
  } = status;
  if (observedGeneration < generation)
    return progressing(`waiting for the Deployment controller to observe ${name}`);
  const failed = conditions.find(
    ({ type, reason }) => type === "Progressing" && reason === "ProgressDeadlineExceeded",
  );
  if (failed)
    return {
      state: "failed",
      reason: "ProgressDeadlineExceeded",
      message: `the pods of the Deployment ${name} do not become ready: ${failed.message ?? "no message"}. The previous pods keep running. See kubectl describe pods.`,
    };
  const replicaFailure = conditions.find(
    ({ type, status }) => type === "ReplicaFailure" && status === "True",
  );
  if (replicaFailure)
    return progressing(
      `the Deployment ${name} cannot create pods: ${replicaFailure.message ?? "no message"}`,
    );
  if (updatedReplicas < desired) return progressing(`${updatedReplicas} of ${desired} pods are up to date`);
  if (replicas > updatedReplicas)
    return progressing(`old pods yet to terminate: ${replicas - updatedReplicas}`);
  if (replicas > desired) return progressing(`surplus pods yet to terminate: ${replicas - desired}`);
  if (availableReplicas < updatedReplicas)
    return progressing(`${availableReplicas} of ${updatedReplicas} pods are available`);
  return {
    state: "done",
    reason: "RolledOut",
    message: `${updatedReplicas} of ${desired} pods are available`,
  };
}

/** The worst state among several Deployments. */
export function rolloutOfAll(deployments: readonly DeploymentObject[]): Rollout {
  const all = deployments.map(rolloutOf);
  return (
    all.find(({ state }) => state === "failed") ??
    all.find(({ state }) => state === "progressing") ??
    all[0] ?? { state: "done", reason: "NothingToRollOut", message: "the chart creates no Deployment" }
  );
}

/** Whether a container of the pod template uses this image. */
export const hasImage = ({ spec }: DeploymentObject, image: string): boolean =>
  spec.template?.spec?.containers?.some((container) => container.image === image) ?? false;

/** The Deployment's pod selector as text, which autoscalers read: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/ */
export function selectorText({ spec: { selector } }: DeploymentObject): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([name, value]) => `${name}=${value}`);
  const expressions = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator.toLowerCase()} (${values.join(",")})`;
  });
  return [...labels, ...expressions].sort().join(",");
}
