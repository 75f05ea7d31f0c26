/** The rights of a run's functions: those that follow from their declarations. */
import { randomBytes } from "node:crypto";
import { followOptIns, grantOptIn } from "@denrei/cli/environment/optins";
import {
  applyRoles,
  localAccounts,
  type RoleOptions,
  removeRoles,
  runAccounts,
} from "@denrei/cli/environment/roles";
import type { KubeClient } from "denrei/kubernetes";
import type { ReconcileFunction } from "denrei/runtime";
import type { KetEnvironment } from "./environment.ts";
import type { KetOptions } from "./options.ts";

/** The functions and the namespace of the run. */
export interface RightsOptions extends Pick<KetOptions, "rights"> {
  readonly client: KubeClient;
  readonly functions: readonly ReconcileFunction[];
  readonly owned: KetEnvironment["owned"];
  readonly namespace: string;
}

/** The rights of a run. */
export interface RunRights {
  /**
   * Creates the roles, and opts the run's namespace in. In a cluster of the run, the label opts in other namespaces as well. Returns
   * environment variables for the bridge and the workers. Throws a `RolesRefusedError`.
   */
  grant(): Promise<Readonly<Record<string, string>>>;
  /** Removes what was created, in a cluster that others use. */
  remove(): Promise<void>;
}

/** Prepares the rights; nothing exists before `grant`. */
export function prepareRights(options: RightsOptions): RunRights {
  const { rights = "generated", owned, namespace, client, functions } = options;
  if (rights === "own" || functions.length === 0)
    return { grant: async () => ({}), remove: async () => undefined };
  const accounts = owned === "all" ? localAccounts : runAccounts(`ket-${randomBytes(4).toString("hex")}`);
  const roles: RoleOptions = { client, functions, accounts, ownRights: 'startKet({ rights: "own", … })' };
  const ending = new AbortController();
  return {
    async grant() {
      await applyRoles(roles);
      if (owned === "part") await grantOptIn(roles, namespace);
      else
        await followOptIns({ ...roles, namespaces: [], signal: ending.signal, onProblem: () => undefined });
      return { DENREI_IMPERSONATE_NAMESPACE: accounts.namespace };
    },
    async remove() {
      ending.abort();
      if (owned === "part") await removeRoles(roles);
    },
  };
}
