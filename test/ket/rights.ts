/** The rights of a run's functions: those that follow from their declarations. */
import { randomBytes } from "node:crypto";
import type { KubeClient } from "../../bus/kube/client.ts";
import type { ReconcileFunction } from "../../bus/worker/function.ts";
import { followOptIns, grantOptIn } from "../../deploy/environment/optins.ts";
import {
  applyRoles,
  localAccounts,
  type RoleOptions,
  removeRoles,
  runAccounts,
} from "../../deploy/environment/roles.ts";
import type { KetEnvironment } from "./environment.ts";
import type { KetOptions } from "./options.ts";

/** The functions and the namespace of the run. */
export interface RightsOptions extends Pick<KetOptions, "rights"> {
  readonly client: KubeClient;
  readonly functions: readonly ReconcileFunction[];
  readonly owned: KetEnvironment["owned"];
  readonly namespace: string;
}

/** Environment variables of the bridge and the workers, and how to remove the rights. */
export interface GrantedRights {
  readonly env: Readonly<Record<string, string | undefined>>;
  remove(): Promise<void>;
}

/**
 * Creates the roles, and opts the run's namespace in. In a cluster of the run, the label opts in other namespaces as well. Throws a
 * `RolesRefusedError`.
 */
export async function grantRights(options: RightsOptions): Promise<GrantedRights> {
  const { rights = "generated", owned, namespace, client, functions } = options;
  if (rights === "own" || functions.length === 0) return { env: {}, remove: async () => undefined };
  const accounts = owned === "all" ? localAccounts : runAccounts(`ket-${randomBytes(4).toString("hex")}`);
  const roles: RoleOptions = { client, functions, accounts, ownRights: 'startKet({ rights: "own", … })' };
  const ending = new AbortController();
  async function remove(): Promise<void> {
    ending.abort();
    if (owned === "part") await removeRoles(roles);
  }
  try {
    await applyRoles(roles);
    if (owned === "part") await grantOptIn(roles, namespace);
    else await followOptIns({ ...roles, signal: ending.signal, onProblem: () => undefined });
  } catch (error) {
    await remove().catch(() => undefined);
    throw error;
  }
  return { env: { DENREI_IMPERSONATE_NAMESPACE: accounts.namespace }, remove };
}
