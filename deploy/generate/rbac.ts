/** Service accounts, roles, and bindings from the declarations of functions. */
import { type Kind, optedInRole } from "denrei/kinds";
import {
  bridgeRules,
  listedRules,
  mergedRules,
  type PolicyRule,
  type ReconcileFunction,
  workerRules,
} from "denrei/runtime";
import { type Layout, separateLayout, type WorkerSet } from "./layout.ts";

type Manifest = Record<string, unknown>;

/** A service account: it runs some functions, and watches the kinds of some. */
export interface Account {
  readonly name: string;
  readonly runs: readonly ReconcileFunction[];
  readonly watches: readonly ReconcileFunction[];
}

/** The name of the Deployment, service account, and role of workers. */
export const workloadName = ({ name }: Pick<WorkerSet, "name">): string => `denrei-${name}`;
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

/** The accounts with rights, of all processes. */
export const accountsOf = ({ functions, workers, processes }: Layout): Account[] =>
  processes === "one"
    ? workers.map((set) => ({ ...workerAccount(set), watches: functions }))
    : [bridgeAccount(functions), ...workers.map(workerAccount)];

const bridgeAccount = (watches: readonly ReconcileFunction[]): Account => ({
  name: bridgeName,
  runs: [],
  watches,
});

const workerAccount = (set: WorkerSet): Account => ({
  name: workloadName(set),
  runs: set.functions,
  watches: [],
});

/** The account of a bridge that watches the kinds of all functions, and of separate workers for some of them. */
export const separateAccounts = (
  functions: readonly ReconcileFunction[],
  watches: readonly ReconcileFunction[] = functions,
): Account[] => [bridgeAccount(watches), ...separateLayout(functions).workers.map(workerAccount)];

/** Service accounts with their roles and bindings. */
export const roleManifests = (accounts: readonly Account[], namespace: string): Manifest[] =>
  accounts.map(rightsOf).flatMap(({ name, everywhere, optedIn }) => [
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
 * The RoleBindings of opted-in namespaces, for all accounts with rights there. Empty if no account has any. The label of the
 * namespace is not included: applying a namespace removes labels that an earlier apply has set.
 */
export function optInManifests(
  accounts: readonly Account[],
  namespaces: readonly string[],
  platformNamespace: string,
): Manifest[] {
  const bound = accounts
    .map(rightsOf)
    .filter(({ optedIn }) => optedIn.length > 0)
    .map(({ name }) => ({ name, namespace: platformNamespace }));
  return namespaces.flatMap((name) =>
    bound.map((account) => binding(account, optedInRole(account.name), name)),
  );
}

/**
 * Roles and bindings for kinds that an installation lists for a function. Without kinds the roles are empty, so applying
 * them revokes the rights.
 */
export function listedManifests(
  accounts: readonly Account[],
  fn: Pick<ReconcileFunction, "name">,
  { kinds, namespace }: { readonly kinds: readonly Kind[]; readonly namespace: string },
): Manifest[] {
  const rules = listedRules(kinds);
  return accounts.flatMap(({ name, runs, watches }) => {
    const parts = [
      ...(runs.some((one) => one.name === fn.name) ? [rules.worker] : []),
      ...(watches.length > 0 ? [rules.bridge] : []),
    ];
    if (parts.length === 0) return [];
    return [
      clusterRole(listedRole(name), name, mergedRules(parts.flat())),
      binding({ name, namespace }, listedRole(name)),
    ];
  });
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

function rightsOf({ name, runs, watches }: Account): Rights {
  const rules = (reach: Kind["reach"]) =>
    mergedRules([...bridgeRules(watches, reach), ...runs.flatMap((fn) => workerRules(fn, reach))]);
  return { name, everywhere: rules("all"), optedIn: rules("opted-in") };
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
