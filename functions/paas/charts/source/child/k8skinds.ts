/**
 * Kinds that `imports/k8s` has classes for, by apiVersion. `cdk8s import k8s` names a class `KubeDeployment`; the first cdk8s named
 * it `Deployment`. Versions other than the main one are a suffix: `KubeHorizontalPodAutoscalerV2`.
 */
const kinds: Readonly<Record<string, string>> = {
  "apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
  "autoscaling/v1": "HorizontalPodAutoscaler",
  "autoscaling/v2": "HorizontalPodAutoscalerV2",
  "batch/v1": "CronJob Job",
  "coordination.k8s.io/v1": "Lease",
  "discovery.k8s.io/v1": "EndpointSlice",
  "networking.k8s.io/v1": "Ingress IngressClass NetworkPolicy",
  "policy/v1": "PodDisruptionBudget",
  "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
  "scheduling.k8s.io/v1": "PriorityClass",
  "storage.k8s.io/v1": "StorageClass",
  v1: "ConfigMap Endpoints LimitRange Namespace PersistentVolume PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount",
};

/** A class of `imports/k8s`. */
export interface KubeClass {
  /** Without the prefix. */
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
}

export const kubeClasses: readonly KubeClass[] = Object.entries(kinds).flatMap(([apiVersion, names]) =>
  names.split(" ").map((name) => ({ name, apiVersion, kind: name.replace(/V\d+$/, "") })),
);

/** Classes of values in fields. */
export const kubeValues = ["IntOrString", "Quantity"] as const;

/** All exports of `imports/k8s`. */
export const kubeExports: readonly string[] = [
  ...kubeClasses.flatMap(({ name }) => [`Kube${name}`, name]),
  ...kubeValues,
];
