/** The environment of `denrei dev`. */
import { redacted } from "denrei";
import { connectCluster } from "denrei/kubernetes";
import { type Environment, type EnvironmentOptions, openEnvironment } from "../../environment/environment.ts";
import { type Accounts, assertRolesAllowed, ownRights, removeRoles } from "../../environment/roles.ts";
import { lostFieldsVariable, roleSuffixVariable } from "./protocol.ts";

/** How to open it. */
export interface DevEnvironmentOptions
  extends Pick<EnvironmentOptions, "display" | "say" | "signal" | "dashboard" | "rights"> {
  /** Whether a debugger may stop a worker, which then does not answer for any length of time. */
  readonly isDebugged: boolean;
  readonly nodes: number;
}

/** The bus disconnects a client after three missed pings. */
const debuggedPingSeconds = 24 * 3600;

/** Opens it. A local bus has no roles, because bus permissions follow from the declarations, which change while it runs. */
export async function openDevEnvironment({
  isDebugged,
  nodes,
  ...options
}: DevEnvironmentOptions): Promise<Environment> {
  const environment = await openEnvironment({
    ...options,
    checkExisting: async ({ kubeconfig, natsUrl }) =>
      options.say(`Using the cluster of ${kubeconfig} and the bus at ${redacted(natsUrl)}.`),
    local: { nodes, roles: [], ...(isDebugged && { pingSeconds: debuggedPingSeconds }) },
  });
  const { origin, natsUrl, accounts } = environment;
  const isLocal = origin === "local";
  const env = {
    ...environment.env,
    ...(isLocal && { NATS_URL: natsUrl }),
    [lostFieldsVariable]: isLocal ? "drop" : undefined,
    [roleSuffixVariable]: accounts?.suffix,
  };
  if (accounts !== undefined && !isLocal) await checkRoles(accounts);
  return { ...environment, env, natsUrlFor: () => natsUrl };
}

/** Checks that the replicas may create the roles of their functions and impersonate their accounts. */
async function checkRoles(accounts: Accounts): Promise<void> {
  const client = await connectCluster({});
  await assertRolesAllowed({ client, accounts, ownRights }).finally(() => client.connection.close());
}

/** Removes the roles that the replicas have created in an existing cluster. */
export async function removeRunRoles({ origin, accounts }: Environment): Promise<void> {
  if (origin === "local" || accounts === undefined) return;
  const client = await connectCluster({});
  await removeRoles({ client, accounts }).finally(() => client.connection.close());
}
