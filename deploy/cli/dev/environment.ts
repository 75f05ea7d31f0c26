/** The environment of `denrei dev`. */
import { redacted } from "denrei";
import { busAddress, connectBus } from "denrei/bus";
import { connectCluster } from "denrei/kubernetes";
import { processSettings, readSettings } from "denrei/runtime";
import { admissionEnv, prepareAdmission } from "../../environment/admission.ts";
import { type Environment, type EnvironmentOptions, openEnvironment } from "../../environment/environment.ts";
import type { ExistingCluster } from "../../environment/existing.ts";
import { type Accounts, assertRolesAllowed, ownRights, removeRoles } from "../../environment/roles.ts";
import { lostFieldsVariable, roleSuffixVariable, webhookVariable } from "./protocol.ts";
import { openRelay, type Relay } from "./relay.ts";

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

/** The environment of `denrei dev`. */
export interface DevEnvironment extends Environment {
  /** Forwards calls of the API server to a worker, which serves the webhook; undefined for an existing cluster. */
  readonly webhookRelay: Relay | undefined;
}

/** The first port to try for the webhook. */
const webhookPort = 8443;

/** Opens it. A local bus has no roles, because bus permissions follow from the declarations, which change while it runs. */
export async function openDevEnvironment({
  isDebugged,
  nodes,
  ...options
}: DevEnvironmentOptions): Promise<DevEnvironment> {
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
  const webhook = isLocal ? await openWebhook(environment) : undefined;
  const env = {
    ...environment.env,
    ...webhook?.env,
    ...(isLocal && { NATS_URL: natsUrl }),
    [lostFieldsVariable]: isLocal ? "drop" : undefined,
    [roleSuffixVariable]: accounts?.suffix,
  };
  if (accounts !== undefined && !isLocal) await checkRoles(accounts);
  return { ...environment, env, natsUrlFor: () => natsUrl, webhookRelay: webhook?.relay };
}

/** Opens an address for the webhook that remains the same across reloads, and so in the CRDs. */
async function openWebhook({ processes }: Environment) {
  const relay = await openRelay({
    for: "the API server",
    port: undefined,
    usualPort: webhookPort,
    onChange: "keep",
  });
  const { webhook, writeSettings } = await prepareAdmission(relay.port);
  const settings = await writeSettings(processes.directory);
  const env = {
    ...admissionEnv(settings),
    // Any port: calls arrive at the relay.
    DENREI_ADMISSION_ADDRESS: "127.0.0.1:0",
    [webhookVariable]: JSON.stringify(webhook),
  };
  return { relay, env };
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
