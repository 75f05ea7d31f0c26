/** The platform of `demo` and `up`: its users of the bus, its CRDs, and the checks of an existing one. */
import { busAddress, connectBus } from "denrei/bus";
import { type ConversionWebhook, needsWebhook } from "denrei/kinds";
import { connectCluster, installCrds, type KubeClient } from "denrei/kubernetes";
import { definedKinds, processSettings, readSettings } from "denrei/runtime";
import { type PreparedAdmission, prepareAdmission } from "../../environment/admission.ts";
import { syncConfigurations } from "../../environment/configurations.ts";
import type { EnvironmentOptions } from "../../environment/environment.ts";
import { type ExistingCluster, existingCluster, withoutForeignSettings } from "../../environment/existing.ts";
import type { ProgressDisplay } from "../../environment/progress.ts";
import { crdManifests } from "../../generate/crds.ts";
import { admissionConfigurations } from "../../generate/webhookconfigurations.ts";
import { projectRoles } from "../../local/index.ts";
import { allFunctions } from "../named.ts";
import type { DemoEnvironmentOptions } from "./environment.ts";

/** Installs the CRDs of all functions. */
export async function installKinds(
  client: KubeClient,
  display: ProgressDisplay,
  signal: AbortSignal,
  webhook?: ConversionWebhook,
): Promise<void> {
  await installCrds(client, crdManifests(await allFunctions(), webhook), {
    fieldManager: "denrei-cli",
    signal,
  });
  display.line("CRDs", "installed", "result");
}

/** Makes the API server call the admission hooks of kinds. */
export const installHooks = async (
  client: KubeClient,
  { webhook }: PreparedAdmission,
  signal: AbortSignal,
): Promise<void> =>
  syncConfigurations(client, admissionConfigurations(await allFunctions(), webhook), signal);

/** The webhook of a local platform; undefined if no kind needs one. The API server of an existing cluster could not reach it. */
export async function localAdmission(): Promise<PreparedAdmission | undefined> {
  const isNeeded = existingCluster() === undefined && definedKinds(await allFunctions()).some(needsWebhook);
  return isNeeded ? prepareAdmission() : undefined;
}

/** Overrides the user's environment: the demo decides where probes listen and what replicas log. */
export const replicaEnv = {
  DENREI_HTTP_ADDRESS: undefined,
  DENREI_LOG_LEVEL: /^(trace|debug)$/.test(process.env.DENREI_LOG_LEVEL ?? "")
    ? process.env.DENREI_LOG_LEVEL
    : undefined,
};

/** How to open the environment. */
export async function environmentOptions(
  { parts, rights, display, say }: DemoEnvironmentOptions,
  signal: AbortSignal,
  webhook: ConversionWebhook | undefined,
): Promise<EnvironmentOptions> {
  const common = { display, say, signal, dashboard: parts.dashboard, rights };
  if (existingCluster()) return { ...common, checkExisting, local: { roles: [] } };
  const settings = { ...process.env, ...replicaEnv, ...withoutForeignSettings, NATS_URL: undefined };
  const { cluster } = readSettings(processSettings, {}, settings);
  return {
    ...common,
    local: {
      nodes: parts.nodes,
      roles: await projectRoles(cluster),
      async prepare(path) {
        const client = await connectCluster({ path });
        await installKinds(client, display, signal, webhook).finally(() => client.connection.close());
      },
    },
  };
}

/** Fails early when the settings are wrong or the bus cannot be reached. */
async function checkExisting({ kubeconfig, natsUrl }: ExistingCluster): Promise<void> {
  const env = { ...process.env, ...replicaEnv, KUBECONFIG: kubeconfig, NATS_URL: natsUrl };
  const bus = await connectBus(busAddress(readSettings(processSettings, {}, env), "denrei-cli"));
  await bus.nc.close();
}
