/** Kinds of which an Application may have objects. What the bridge watches and what a worker may write follow from it. */
import { ConfigMap, externalKind, type Kind } from "../../../bus/kube/kind.ts";
import { Deployment, Service } from "../../../bus/kube/workloads.ts";

export const Ingress = externalKind({
  group: "networking.k8s.io",
  version: "v1",
  kind: "Ingress",
  plural: "ingresses",
});
/** Of the Gateway API: https://gateway-api.sigs.k8s.io/api-types/httproute/ */
export const HTTPRoute = externalKind({
  group: "gateway.networking.k8s.io",
  version: "v1",
  kind: "HTTPRoute",
  plural: "httproutes",
});
export const HorizontalPodAutoscaler = externalKind({
  group: "autoscaling",
  version: "v2",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
});
export const PodDisruptionBudget = externalKind({
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
});
export const NetworkPolicy = externalKind({
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
});

/**
 * Kinds of which a chart may always make objects; a site lists further ones. None of them gives anybody rights, and none is
 * outside of a namespace: a chart gets no further than the namespaces of Applications.
 */
export const childKinds: readonly Kind[] = [
  Deployment,
  Service,
  Ingress,
  HTTPRoute,
  ConfigMap,
  HorizontalPodAutoscaler,
  PodDisruptionBudget,
  NetworkPolicy,
];
