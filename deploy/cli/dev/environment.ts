/** The environment of `denrei dev`. */

import { processSettings, readSettings } from "../../../bus/config/config.ts";
import { busAddress, connectBus } from "../../../bus/nats/connect.ts";
import { connectCluster } from "../../../bus/process/cluster.ts";
import { redacted } from "../../../bus/values/redact.ts";
import { type Environment, type EnvironmentOptions, openEnvironment } from "../../environment/environment.ts";
import type { ExistingCluster } from "../../environment/existing.ts";
import { lostFieldsVariable } from "./protocol.ts";

/** How to open it. */
export interface DevEnvironmentOptions
  extends Pick<EnvironmentOptions, "display" | "say" | "signal" | "dashboard"> {
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
  const { origin, natsUrl } = environment;
  const isLocal = origin === "local";
  const env = {
    ...environment.env,
    ...(isLocal && { NATS_URL: natsUrl }),
    [lostFieldsVariable]: isLocal ? "drop" : undefined,
  };
  return { ...environment, env, natsUrlFor: () => natsUrl };
}
