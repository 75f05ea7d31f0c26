/** Service accounts, roles and bindings from declarations. */
import type { PolicyRule, ReconcileFunction } from "../../bus/worker/function.ts";
import { bridgeRules, workerRules } from "../../bus/worker/rbac.ts";

type Manifest = Record<string, unknown>;

/** Whose roles, and where their service accounts live. */
export interface RoleOptions {
  readonly functions: readonly ReconcileFunction[];
  /** The functions whose kinds the bridge watches; none means no bridge. */
  readonly bridge: readonly ReconcileFunction[];
  readonly namespace: string;
}

/** The name of a function's Deployment, service account and role. */
export const workloadName = (fn: Pick<ReconcileFunction, "name">): string => `denrei-${fn.name}`;
/** The name of the bridge's. */
export const bridgeName = "denrei-bridge";

/** Labels of everything that belongs to a workload. */
export const labelsOf = (name: string) => ({
  "app.kubernetes.io/name": name,
  "app.kubernetes.io/part-of": "denrei",
});

/** The manifests of a service account with a role of its own. */
export function accountManifests(name: string, namespace: string, rules: readonly PolicyRule[]): Manifest[] {
  const labels = labelsOf(name);
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace, labels } },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name, labels }, rules },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name, labels },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
}

/** The manifests of every named function and, if asked for, of the bridge. */
export const roleManifests = ({ functions, bridge, namespace }: RoleOptions): Manifest[] => [
  ...(bridge.length > 0 ? accountManifests(bridgeName, namespace, bridgeRules(bridge)) : []),
  ...functions.flatMap((fn) => accountManifests(workloadName(fn), namespace, workerRules(fn))),
];
