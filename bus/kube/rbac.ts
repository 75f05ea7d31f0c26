/** Kinds that grant permissions: https://kubernetes.io/docs/reference/access-authn-authz/rbac/ */
import { externalKind } from "./kind.ts";

const group = { group: "rbac.authorization.k8s.io", version: "v1" } as const;

/** ClusterRoles: cluster-scoped. */
export const ClusterRole = externalKind({
  ...group,
  kind: "ClusterRole",
  plural: "clusterroles",
  scope: "Cluster",
});
/** ClusterRoleBindings: cluster-scoped. */
export const ClusterRoleBinding = externalKind({
  ...group,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  scope: "Cluster",
});
/** RoleBindings: grant a role in their own namespace. */
export const RoleBinding = externalKind({ ...group, kind: "RoleBinding", plural: "rolebindings" });
