/** Kubernetes' own kinds that run or expose programs. */
import { externalKind } from "./kind.ts";
import type { KubeObject } from "./object.ts";
import type { DeploymentObject } from "./rollout.ts";

/** A Deployment, reduced to the fields in use. */
export type Deployment = DeploymentObject;
/** Deployments. */
export const Deployment = externalKind<DeploymentObject>({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
});

/** A StatefulSet, reduced to the fields in use. */
export type StatefulSet = KubeObject<
  Readonly<Record<string, unknown>> & { readonly replicas?: number },
  {
    readonly observedGeneration?: number;
    readonly availableReplicas?: number;
    readonly updatedReplicas?: number;
  }
>;
/** StatefulSets. */
export const StatefulSet = externalKind<StatefulSet>({
  group: "apps",
  version: "v1",
  kind: "StatefulSet",
  plural: "statefulsets",
});

/** Services. */
export const Service = externalKind({ group: "", version: "v1", kind: "Service", plural: "services" });

/** A ServiceAccount, and its Secrets. */
export type ServiceAccount = KubeObject & {
  readonly secrets?: readonly { readonly name?: string }[];
  readonly imagePullSecrets?: readonly { readonly name?: string }[];
};
/** ServiceAccounts. */
export const ServiceAccount = externalKind<ServiceAccount>({
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
});
