/**
 * The generated roles on a platform whose processes impersonate their service accounts, so that a function has locally exactly
 * the rights that it has in a cluster.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  ClusterRole,
  ClusterRoleBinding,
  domain,
  type Kind,
  type KubeObject,
  RoleBinding,
} from "denrei/kinds";
import { isForbidden, isNotFound, type KubeClient, kubeClient } from "denrei/kubernetes";
import {
  accountOf,
  accountUser,
  type PolicyRule,
  type ReconcileFunction,
  RolesRefusedError,
} from "denrei/runtime";
import { optInManifests, roleManifests, separateAccounts, withRoleSuffix } from "../generate/rbac.ts";

/** Where the service accounts are, and how the names of their roles end. */
export interface Accounts {
  /** Namespace of the service accounts. Neither it nor the accounts have to exist. */
  readonly namespace: string;
  /** Ends the names of roles and bindings, so that runs in one cluster do not change each other's. Empty on a local platform. */
  readonly suffix: string;
}

/** The accounts of a local platform: the same as in a cluster. */
export const localAccounts: Accounts = { namespace: "denrei", suffix: "" };

/** The accounts of one run in an existing cluster, where those in `denrei` may have deployed roles. */
export const runAccounts = (run: string): Accounts => ({ namespace: `denrei-${run}`, suffix: `-${run}` });

/** The functions, whose kinds the bridge watches, and their accounts. */
export interface RoleSet {
  readonly functions: readonly ReconcileFunction[];
  readonly accounts: Accounts;
}

/** The flag of the command line that runs functions with the rights of the kubeconfig's user. */
export const ownRights = "--own-rights";

/** Which roles to create, and how. */
export interface RoleOptions extends RoleSet {
  readonly client: KubeClient;
  /** How the user runs functions with the rights of the kubeconfig: `--own-rights`. */
  readonly ownRights: string;
}

const fieldManager = "denrei-cli";
const runLabel = `${domain}/run`;
/** How long the API server may take to apply new roles. Milliseconds. */
const inForceMillis = 30_000;

/** A ClusterRole, or a binding of one. */
export interface Role extends KubeObject {
  readonly rules?: readonly PolicyRule[];
  readonly roleRef?: { readonly name: string };
  readonly subjects?: readonly { readonly name: string }[];
}

const kinds: Readonly<Record<string, Kind>> = { ClusterRole, ClusterRoleBinding, RoleBinding };

/** The roles and their cluster-wide bindings. Bindings in namespaces follow from opt-ins. */
const rolesOf = ({ functions, accounts }: RoleSet): Role[] =>
  named(
    roleManifests(separateAccounts(functions), accounts.namespace).filter(
      ({ kind }) => kind === "ClusterRole" || kind === "ClusterRoleBinding",
    ),
    accounts,
  );

/** The bindings that give access to the Secrets of a namespace. */
export const optInsOf = ({ functions, accounts }: RoleSet, namespace: string): Role[] =>
  named(optInManifests(separateAccounts(functions), [namespace], accounts.namespace), accounts);

/** The manifests with the names of these accounts. */
function named(manifests: readonly Record<string, unknown>[], { suffix }: Accounts): Role[] {
  const roles = withRoleSuffix(manifests, suffix) as unknown as Role[];
  if (suffix === "") return roles;
  const run = { [runLabel]: suffix.slice(1) };
  return roles.map((role) => ({
    ...role,
    metadata: { ...role.metadata, labels: { ...role.metadata.labels, ...run } },
  }));
}

/**
 * Applies the roles of functions and bridge, and resolves when the API server grants them. Throws a {@link RolesRefusedError} if
 * the user may not create them or not impersonate their accounts.
 */
export async function applyRoles(options: RoleOptions): Promise<void> {
  const roles = rolesOf(options);
  await refused(options, "create their roles", () => apply(options.client, roles));
  const bindings = roles.filter(({ subjects }) => subjects !== undefined);
  await refused(options, "impersonate their service accounts", () =>
    // Bindings of the whole cluster hold in every namespace.
    untilInForce(options, bindings, "default"),
  );
}

/** Applies roles or bindings. */
export async function apply(
  client: KubeClient,
  roles: readonly Role[],
  dryRun?: { readonly dryRun: "All" },
): Promise<void> {
  const options = { fieldManager, force: "take-ownership", ...dryRun } as const;
  await Promise.all(roles.map((role) => client.apply(kinds[role.kind] ?? ClusterRole, role, options)));
}

/**
 * Checks that the user may create roles and impersonate accounts, and changes nothing. Throws a {@link RolesRefusedError}.
 */
export async function assertRolesAllowed(options: Omit<RoleOptions, "functions">): Promise<void> {
  const { client, accounts } = options;
  const probes = named([{ ...emptyRole, metadata: { name: accountOf("probe") } }], accounts);
  await refused(options, "create their roles", () => apply(client, probes, { dryRun: "All" }));
  const user = accountUser(accountOf("probe"), accounts.namespace);
  await refused(options, "impersonate their service accounts", () =>
    untilGranted(kubeClient(client.connection, undefined, { user }), "default", []),
  );
}

const emptyRole = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", rules: [] };

async function refused(
  { client, ownRights }: Pick<RoleOptions, "client" | "ownRights">,
  what: string,
  attempt: () => Promise<void>,
): Promise<void> {
  try {
    await attempt();
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new RolesRefusedError(
      `functions run under their generated roles, but the user of the context "${client.connection.context}" may not ` +
        `${what}: ${(error as Error).message}\nAsk an administrator for that right, or run the functions with your own ` +
        `rights: ${ownRights}. Missing permissions then show only in a cluster.`,
      { cause: error },
    );
  }
}

/** Waits until each account has the rules of its bindings. The API server reads them through a watch, a moment after the write. */
export async function untilInForce(
  options: RoleOptions,
  bindings: readonly Role[],
  namespace: string,
): Promise<void> {
  const { client, accounts } = options;
  const rules = new Map(rolesOf(options).map((role) => [role.metadata.name, role.rules ?? []]));
  await Promise.all(
    bindings.map(async ({ roleRef, subjects }) => {
      const user = accountUser(subjects?.[0]?.name ?? "", accounts.namespace);
      const expected = (rules.get(roleRef?.name ?? "") ?? []).map(ruleKey);
      await untilGranted(kubeClient(client.connection, undefined, { user }), namespace, expected);
    }),
  );
}

interface RulesReview {
  readonly status: { readonly resourceRules: readonly PolicyRule[] };
}

/** Asks as the account itself, which fails at once if the user may not impersonate it. */
async function untilGranted(
  client: KubeClient,
  namespace: string,
  expected: readonly string[],
): Promise<void> {
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectRulesReview",
    spec: { namespace },
  };
  const path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
  const until = performance.now() + inForceMillis;
  for (;;) {
    const { status } = await client.request<RulesReview>({ method: "POST", path, body });
    const found = new Set(status.resourceRules.map(ruleKey));
    const missing = expected.find((rule) => !found.has(rule));
    if (missing === undefined) return;
    if (performance.now() > until) throw new Error(`the API server does not grant a new rule: ${missing}`);
    await sleep(20);
  }
}

const ruleKey = ({ apiGroups, resources, verbs, resourceNames = [] }: PolicyRule): string =>
  JSON.stringify([apiGroups, resources, verbs, resourceNames]);

/** Deletes roles and bindings; those that are missing are skipped. */
export async function remove(client: KubeClient, roles: readonly KubeObject[]): Promise<void> {
  await Promise.all(
    roles.map(({ kind, metadata: { namespace, name } }) =>
      client.delete(kinds[kind] ?? RoleBinding, { namespace, name }, {}).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      }),
    ),
  );
}

/** Deletes the roles and bindings of a run in an existing cluster, in all namespaces. */
export async function removeRoles({
  client,
  accounts: { suffix },
}: Pick<RoleOptions, "client" | "accounts">): Promise<void> {
  const query = { labelSelector: `${runLabel}=${suffix.slice(1)}` };
  for (const kind of [RoleBinding, ClusterRoleBinding, ClusterRole]) {
    const { items } = await client.list(kind, undefined, query);
    await remove(
      client,
      // Items of a list have no kind.
      items.map((object) => ({ ...object, kind: kind.kind })),
    );
  }
}
