/** What `demo` and `up` start: an environment with CRDs, workers, one bridge, and optionally gateways and a dashboard. */
import { redacted } from "denrei";
import { busAddress, connectBus } from "denrei/bus";
import { type ConversionWebhook, needsWebhook } from "denrei/kinds";
import { connectCluster, installCrds, type KubeClient } from "denrei/kubernetes";
import { definedKinds, processSettings, readSettings } from "denrei/runtime";
import {
  type PreparedAdmission,
  prepareAdmission,
  startLocalAdmission,
} from "../../environment/admission.ts";
import { syncConfigurations } from "../../environment/configurations.ts";
import { type RunningDashboard, startDashboard } from "../../environment/dashboard.ts";
import {
  type Environment,
  type EnvironmentOptions,
  openEnvironment,
  suffixOf,
} from "../../environment/environment.ts";
import { type ExistingCluster, existingCluster, withoutForeignSettings } from "../../environment/existing.ts";
import { type Hook, prepareGateways } from "../../environment/gateways.ts";
import { followOptIns } from "../../environment/optins.ts";
import { count, type ProgressDisplay, timedStart } from "../../environment/progress.ts";
import { type ReplicaOptions, startReplicas, type WorkerOptions } from "../../environment/replicas.ts";
import { applyRoles, ownRights, removeRoles } from "../../environment/roles.ts";
import { crdManifests } from "../../generate/crds.ts";
import { admissionConfigurations } from "../../generate/webhookconfigurations.ts";
import { type Child, type LocalProcesses, projectRoles } from "../../local/index.ts";
import { allFunctions } from "../named.ts";

/** The environment of a demo, with everything in it ready. */
export interface DemoEnvironment
  extends Pick<Environment, "origin" | "kubeconfigPath" | "natsUrl" | "podLogsPath"> {
  readonly client: KubeClient;
  readonly directory: string;
  /** Lower-case letters and digits, unique to this run, for names of objects. */
  readonly id: string;
  /** The workers, then the bridge, then the gateways, then the dashboard, then the webhook of the API server. */
  readonly replicas: readonly Child[];
  /** Where the gateways receive webhooks; no addresses without gateways. */
  readonly hook: Hook;
  /** Undefined without a dashboard. */
  readonly dashboard: RunningDashboard | undefined;
  /** Starts a further process, which ends with the environment. */
  readonly spawn: LocalProcesses["spawn"];
  stop(): Promise<void>;
}

/** What a demo needs in addition to the bridge. */
export interface DemoParts extends WorkerOptions, Pick<ReplicaOptions, "onLine"> {
  readonly gateways: number;
  readonly dashboard: boolean;
  /** Number of nodes of a local platform, 0 unless given. */
  readonly nodes?: number;
  /** Starts what must run before the replicas, and returns environment variables for them. */
  readonly before?: (preparation: Preparation) => Promise<ReplicaOptions["env"]>;
}

/** What exists before the replicas start, and where the gateways and the dashboard will listen. */
export interface Preparation
  extends Pick<
      DemoEnvironment,
      "origin" | "id" | "kubeconfigPath" | "spawn" | "directory" | "hook" | "dashboard"
    >,
    Pick<DemoEnvironmentOptions, "display" | "signal"> {}

/** What to start. */
export interface DemoEnvironmentOptions extends Pick<EnvironmentOptions, "rights"> {
  readonly parts: DemoParts;
  readonly display: ProgressDisplay;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Starts everything; resolves when it is ready. */
export async function startDemoEnvironment(options: DemoEnvironmentOptions): Promise<DemoEnvironment> {
  const { display } = options;
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  const admission = await localAdmission();
  const environment = await openEnvironment(await environmentOptions(options, signal, admission?.webhook));
  let client: KubeClient | undefined;
  async function stop(): Promise<void> {
    ended.abort(new Error("the environment was stopped"));
    await environment.processes.stop();
    const { origin, accounts } = environment;
    if (client && accounts && origin === "existing") await removeRoles({ client, accounts });
    await client?.connection.close();
  }
  try {
    signal.throwIfAborted();
    client = await connectCluster({ path: environment.kubeconfigPath });
    const parts = await startParts(client, environment, { ...options, signal }, admission);
    return { client, ...parts, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    display.done();
  }
}

async function startParts(
  client: KubeClient,
  environment: Environment,
  { parts, display, say, signal }: DemoEnvironmentOptions,
  admission: PreparedAdmission | undefined,
): Promise<Omit<DemoEnvironment, "client" | "stop">> {
  const { origin, kubeconfigPath, natsUrl, dashboard, podLogsPath } = environment;
  if (origin === "existing") {
    say(`Using the cluster at ${client.connection.server} and the bus at ${redacted(natsUrl)}:`);
    await installKinds(client, display, signal);
  }
  await grantRights(client, environment, { say, signal });
  const { workers, onLine, before } = parts;
  const { directory, spawn } = environment.processes;
  const gateways = await prepareGateways(parts.gateways, directory);
  const { hook } = gateways;
  const id = suffixOf(directory).slice(1).toLowerCase();
  const added = await before?.({
    ...{ origin, id, kubeconfigPath, spawn, directory, hook, dashboard, display, signal },
  });
  const env = { ...environment.env, ...replicaEnv, ...added };
  const replicaOptions = { ...environment, env, onLine, say, signal };
  const webhooks = admission === undefined ? [] : [await startLocalAdmission(admission, replicaOptions)];
  if (admission) await installHooks(client, admission, signal);
  const [replicas, receivers, fronts] = await Promise.all([
    timedStart(display, `${count(workers, "worker")}, 1 bridge`, startReplicas(parts, replicaOptions)),
    parts.gateways === 0
      ? []
      : timedStart(display, count(parts.gateways, "gateway"), gateways.start(replicaOptions)),
    dashboard === undefined
      ? []
      : timedStart(display, "dashboard", startDashboard(dashboard, replicaOptions, display)).then((child) => [
          child,
        ]),
  ]);
  return {
    ...{ origin, kubeconfigPath, natsUrl, podLogsPath, directory, id, hook, dashboard, spawn },
    replicas: [...replicas, ...receivers, ...fronts, ...webhooks],
  };
}

/** Creates the roles of all functions and of the bridge, and follows opt-ins. */
async function grantRights(
  client: KubeClient,
  environment: Environment,
  { say, signal }: Pick<DemoEnvironmentOptions, "say" | "signal">,
): Promise<void> {
  const { accounts } = environment;
  if (accounts === undefined) return;
  const roles = { client, functions: await allFunctions(), accounts, ownRights };
  await applyRoles(roles);
  const onProblem = ({ message }: Error) => say(`Failed to opt namespaces in, retrying: ${message}`);
  const { namespaces } = readSettings(["namespaces"], {}, { ...process.env, ...environment.env });
  await followOptIns({ ...roles, namespaces, signal, onProblem });
}

async function installKinds(
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
const installHooks = async (client: KubeClient, { webhook }: PreparedAdmission, signal: AbortSignal) =>
  syncConfigurations(client, admissionConfigurations(await allFunctions(), webhook), signal);

/** The webhook of a local platform; undefined if no kind needs one. The API server of an existing cluster could not reach it. */
async function localAdmission(): Promise<PreparedAdmission | undefined> {
  const isNeeded = existingCluster() === undefined && definedKinds(await allFunctions()).some(needsWebhook);
  return isNeeded ? prepareAdmission() : undefined;
}

/** Overrides the user's environment: the demo decides where probes listen and what replicas log. */
const replicaEnv = {
  DENREI_HTTP_ADDRESS: undefined,
  DENREI_LOG_LEVEL: /^(trace|debug)$/.test(process.env.DENREI_LOG_LEVEL ?? "")
    ? process.env.DENREI_LOG_LEVEL
    : undefined,
};

async function environmentOptions(
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
