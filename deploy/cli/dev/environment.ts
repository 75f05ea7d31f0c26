/** The environment of `denrei dev`. */
import { redacted } from "denrei";
import { busAddress, connectBus } from "denrei/bus";
import { connectCluster } from "denrei/kubernetes";
import { processSettings, readSettings } from "denrei/runtime";
import { type Environment, type EnvironmentOptions, openEnvironment } from "../../environment/environment.ts";
import type { ExistingCluster } from "../../environment/existing.ts";
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

/** Throws what connecting throws: replicas would retry forever where the user has to fix a setting. */
async function checkConnections({ kubeconfig, natsUrl }: ExistingCluster): Promise<void> {
  const env = { ...process.env, KUBECONFIG: kubeconfig, NATS_URL: natsUrl };
  const settings = readSettings(processSettings, {}, env);
  const client = await connectCluster({ path: settings.kubeconfig, context: settings.context });
  await client.connection.close();
  const bus = await connectBus(busAddress(settings, "denrei-cli"));
  await bus.nc.close();
}

/** Opens it. A local bus has no roles, because bus permissions follow from the declarations, which change while it runs. */
export async function openDevEnvironment({
  isDebugged,
  nodes,
  ...options
}: DevEnvironmentOptions): Promise<Environment> {
  const environment = await openEnvironment({
    ...options,
    async checkExisting(cluster) {
      options.say(`Using the cluster of ${cluster.kubeconfig} and the bus at ${redacted(cluster.natsUrl)}.`);
      await checkConnections(cluster);
    },
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
