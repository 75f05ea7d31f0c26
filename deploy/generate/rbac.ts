/** Service accounts, roles, and bindings from the declarations of functions. */
import { type Kind, optedInRole } from "denrei/kinds";
import {
  bridgeRules,
  listedRules,
  type PolicyRule,
  type ReconcileFunction,
  workerRules,
} from "denrei/runtime";

type Manifest = Record<string, unknown>;

/** For which workloads to generate roles, and the namespace of their service accounts. */
export interface RoleOptions {
  readonly functions: readonly ReconcileFunction[];
  /** The functions whose kinds the bridge watches. If empty, no roles for a bridge. */
  readonly bridge: readonly ReconcileFunction[];
  readonly namespace: string;
}

/** The name of a function's Deployment, service account, and role. */
export const workloadName = (fn: Pick<ReconcileFunction, "name">): string => `denrei-${fn.name}`;
/** The name of the bridge's Deployment, service account, and role. */
export const bridgeName = "denrei-bridge";
/** The name of the gateway's Deployment and service account. It has no role. */
export const gatewayName = "denrei-gateway";
/** The name of the dashboard's Deployment and service account. It has no role: it acts as the logged-in user. */
export const dashboardName = "denrei-dashboard";

/** The name of the webhook's Deployment, service account, and Service. It has no role: it calls no server. */
export const admissionName = "denrei-admission";

/** Labels of everything that belongs to a workload. */
export const labelsOf = (name: string) => ({
  "app.kubernetes.io/name": name,
  "app.kubernetes.io/part-of": "denrei",
});

/** The service account of a workload. */
export const accountManifest = (name: string, namespace: string): Manifest => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name, namespace, labels: labelsOf(name) },
});

/** Service accounts, roles, and bindings of the functions and, if `bridge` is not empty, of the bridge. */
export const roleManifests = ({ functions, bridge, namespace }: RoleOptions): Manifest[] =>
  rightsOf(functions, bridge).flatMap(({ name, everywhere, optedIn }) => [
    accountManifest(name, namespace),
    clusterRole(name, name, everywhere),
    binding({ name, namespace }, name),
    ...(optedIn.length > 0
      ? [
          clusterRole(optedInRole(name), name, optedIn),
          // The platform's own namespace is always opted in.
          binding({ name, namespace }, optedInRole(name), namespace),
        ]
      : []),
  ]);

/**
 * The RoleBindings of opted-in namespaces, for all workloads with rights there. Empty if no workload has any. The label of
 * the namespace is not included: applying a namespace removes labels that an earlier apply has set.
 */
export function optInManifests(
  functions: readonly ReconcileFunction[],
  namespaces: readonly string[],
  platformNamespace: string,
): Manifest[] {
  const accounts = rightsOf(functions, functions)
    .filter(({ optedIn }) => optedIn.length > 0)
    .map(({ name }) => ({ name, namespace: platformNamespace }));
  if (accounts.length === 0) return [];
  return namespaces.flatMap((name) =>
    accounts.map((account) => binding(account, optedInRole(account.name), name)),
  );
}

/**
 * Roles and bindings for kinds that an installation lists for a function. Without kinds the roles are empty, so applying
 * them revokes the rights.
 */
export function listedManifests(
  fn: Pick<ReconcileFunction, "name">,
  kinds: readonly Kind[],
  namespace: string,
): Manifest[] {
  const rules = listedRules(kinds);
  const accounts = [
    { name: workloadName(fn), rules: rules.worker },
    { name: bridgeName, rules: rules.bridge },
  ];
  return accounts.flatMap(({ name, rules }) => [
    clusterRole(listedRole(name), name, rules),
    binding({ name, namespace }, listedRole(name)),
  ]);
}

/**
 * The manifests with other names of roles and bindings, for a further project in a cluster: its bridge has the name of the first one's,
 * in another namespace, and roles belong to no namespace.
 */
export const withRoleSuffix = (manifests: readonly Manifest[], suffix: string): Manifest[] =>
  manifests.map((manifest) => {
    const { kind, metadata, roleRef } = manifest as unknown as RoleOrBinding;
    if (suffix === "" || kind === "ServiceAccount") return manifest;
    return {
      ...manifest,
      metadata: { ...metadata, name: `${metadata.name}${suffix}` },
      ...(roleRef && { roleRef: { ...roleRef, name: `${roleRef.name}${suffix}` } }),
    };
  });

interface RoleOrBinding {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly roleRef?: { readonly name: string };
}

const listedRole = (name: string): string => `${name}-listed-kinds`;

interface Rights {
  readonly name: string;
  readonly everywhere: readonly PolicyRule[];
  readonly optedIn: readonly PolicyRule[];
}

function rightsOf(functions: readonly ReconcileFunction[], bridge: readonly ReconcileFunction[]): Rights[] {
  const watched = { everywhere: bridgeRules(bridge, "all"), optedIn: bridgeRules(bridge, "opted-in") };
  return [
    ...(bridge.length > 0 ? [{ name: bridgeName, ...watched }] : []),
    ...functions.map((fn) => ({
      name: workloadName(fn),
      everywhere: workerRules(fn, "all"),
      optedIn: workerRules(fn, "opted-in"),
    })),
  ];
}

const rbac = { apiVersion: "rbac.authorization.k8s.io/v1" } as const;

const clusterRole = (name: string, workload: string, rules: readonly PolicyRule[]): Manifest => ({
  ...rbac,
  kind: "ClusterRole",
  metadata: { name, labels: labelsOf(workload) },
  rules,
});

/** Binds a ClusterRole to a service account, in one namespace or in the whole cluster. */
const binding = (
  account: { readonly name: string; readonly namespace: string },
  role: string,
  namespace?: string,
): Manifest => ({
  ...rbac,
  kind: namespace === undefined ? "ClusterRoleBinding" : "RoleBinding",
  metadata: { name: role, ...(namespace !== undefined && { namespace }), labels: labelsOf(account.name) },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
  subjects: [{ kind: "ServiceAccount", ...account }],
});
