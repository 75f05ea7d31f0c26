/** Kinds that charts can make. The bridge's watches and the workers' rights follow from this list. */
import { ConfigMap, externalKind, type Kind, Service } from "denrei";
import { Deployment } from "denrei/kinds";

export const Ingress = externalKind({
  group: "networking.k8s.io",
  version: "v1",
  kind: "Ingress",
  plural: "ingresses",
});
/** Gateway API: https://gateway-api.sigs.k8s.io/api-types/httproute/ */
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
 * Kinds that charts may always make. A site can list further ones. None of them grants rights, and none is cluster-scoped, so a
 * chart's effects stay in the namespaces of Applications.
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
