/** Where `demo` and `up` run: on a local platform, or on the cluster and bus that the environment names. */
import { basename } from "node:path";
import { processSettings, readSettings } from "../../../bus/config/config.ts";
import type { KubeClient } from "../../../bus/kube/client.ts";
import { installCrds } from "../../../bus/kube/install.ts";
import { busAddress, connectBus } from "../../../bus/nats/connect.ts";
import { connectCluster } from "../../../bus/process/cluster.ts";
import { redacted } from "../../../bus/values/redact.ts";
import { functions } from "../../../functions/index.ts";
import { crdManifests } from "../../generate/crds.ts";
import {
  type Child,
  type LocalPlatform,
  type LocalProcesses,
  type PartName,
  shippedRoles,
  startLocalPlatform,
  startLocalProcesses,
} from "../../local/index.ts";
import { foreign, leftAlone, type OwnCluster, ownCluster } from "../foreign.ts";
import {
  type DashboardFront,
  type DashboardPlan,
  ownDashboard,
  type PreparedDashboard,
  prepareDashboard,
  startDashboard,
} from "./dashboards.ts";
import { type Hook, prepareGateways } from "./gateways.ts";
import { duration, type ProgressDisplay } from "./progress.ts";
import { type ReplicaOptions, startReplicas, type WorkerOptions } from "./replicas.ts";
import { revive } from "./revive.ts";

/** A cluster with the CRDs, a bus, some workers and one bridge, and gateways if they are wanted. */
export interface Stage {
  readonly client: KubeClient;
  readonly origin: "local" | "existing";
  /** Undefined for an existing cluster: its kubeconfig is the user's own. */
  readonly kubeconfigPath: string | undefined;
  /** For an operator. */
  readonly natsUrl: string;
  readonly directory: string;
  /** Lower-case letters and digits that no other stage has, for names of objects. */
  readonly id: string;
  /** The workers, then the bridge, then the gateways, then the dashboard. */
  readonly replicas: readonly Child[];
  /** Where the gateways receive webhooks; nowhere if there are none. */
  readonly hook: Hook;
  /** What is in front of it all; undefined if there is none. */
  readonly dashboard: DashboardFront | undefined;
  /** The file that is the log of every container; undefined where pods write their own, or there are none. */
  readonly podLogsPath: string | undefined;
  /** Starts something more, that ends with the stage. */
  readonly spawn: LocalProcesses["spawn"];
  stop(): Promise<void>;
}

/** Who is needed on a stage, beside the bridge. */
export interface Cast extends WorkerOptions, Pick<ReplicaOptions, "onLine"> {
  readonly gateways: number;
  /** A dashboard in front; none unless given. */
  readonly dashboard?: DashboardPlan | undefined;
  /** How many nodes a local platform has; none unless given. */
  readonly nodes?: number;
  /** Starts what has to be there before the replicas, and says what these are told of it in their environment. */
  readonly before?: (backstage: Backstage) => Promise<ReplicaOptions["env"]>;
}

/** What there is before the replicas, and where these will be. */
export interface Backstage
  extends Pick<Stage, "origin" | "id" | "kubeconfigPath" | "spawn" | "directory" | "hook" | "dashboard">,
    Pick<StageOptions, "display" | "signal"> {}

/** What to set up, and who is told. */
export interface StageOptions {
  readonly cast: Cast;
  readonly display: ProgressDisplay;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** What the replicas run on. */
interface Ground extends Pick<Stage, "origin" | "kubeconfigPath" | "natsUrl" | "podLogsPath"> {
  readonly dashboard: PreparedDashboard | undefined;
  readonly natsUrlFor: ReplicaOptions["natsUrlFor"];
  readonly processes: LocalProcesses;
  readonly env: ReplicaOptions["env"];
  readonly suffix: string;
}

/** Sets the stage. With both KUBECONFIG and NATS_URL set, it is theirs; otherwise everything is local. */
export async function setStage(options: StageOptions): Promise<Stage> {
  const { cast, display, say } = options;
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  const own = ownCluster();
  const ground = own ? await existingGround(own, cast) : await localGround(options, signal);
  const { processes, origin, kubeconfigPath, natsUrl } = ground;
  let client: KubeClient | undefined;
  async function stop(): Promise<void> {
    ended.abort(new Error("the stage was struck"));
    await processes.stop();
    await client?.connection.close();
  }
  try {
    signal.throwIfAborted();
    client = await connectCluster({ path: kubeconfigPath });
    if (origin === "existing") {
      say(`Using the cluster at ${client.connection.server} and the bus at ${redacted(natsUrl)}:`);
      await installKinds(client, display, signal);
    }
    const { workers, onLine, before } = cast;
    const { directory, spawn } = processes;
    const { dashboard } = ground;
    const gateways = await prepareGateways(cast.gateways, directory);
    const { hook } = gateways;
    const id = suffixOf(directory).slice(1).toLowerCase();
    const backstage = { origin, id, kubeconfigPath, spawn, directory, hook, dashboard, display, signal };
    const told = await before?.(backstage);
    const replicaOptions = { ...ground, env: { ...ground.env, ...told }, onLine, say, signal };
    const [replicas, receivers, fronts] = await Promise.all([
      timed(display, `${count(workers, "worker")}, 1 bridge`, startReplicas(cast, replicaOptions)),
      cast.gateways === 0
        ? []
        : timed(display, count(cast.gateways, "gateway"), gateways.start(replicaOptions)),
      dashboard === undefined
        ? []
        : timed(display, "dashboard", startDashboard(dashboard, replicaOptions, display)).then((child) => [
            child,
          ]),
    ]);
    const ready = {
      replicas: [...replicas, ...receivers, ...fronts],
      hook,
      dashboard,
      podLogsPath: ground.podLogsPath,
      spawn,
      stop,
    };
    return { client, origin, kubeconfigPath, natsUrl, directory, id, ...ready };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    display.done();
  }
}

async function installKinds(
  client: KubeClient,
  display: ProgressDisplay,
  signal: AbortSignal,
): Promise<void> {
  await installCrds(client, crdManifests(functions), { fieldManager: "denrei-cli", signal });
  display.line("CRDs", "installed", "result");
}

/** `1 worker`, `2 workers`. */
export const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;

/** Shows that something is being started, and how long that has taken. */
async function timed<T>(display: ProgressDisplay, subject: string, started: Promise<T>): Promise<T> {
  const begun = performance.now();
  display.line(subject, "starting", "moving");
  const result = await started;
  display.line(subject, `ready after ${duration(performance.now() - begun)}`, "result");
  return result;
}

/** What tells a run's folder from others: `-Ab1Cd2`. */
const suffixOf = (directory: string): string => basename(directory).replace(/^denrei/, "");

/** Where the replicas' probes listen, and what they log, is the stage's business, whatever the environment says. */
const replicaEnv = {
  DENREI_HTTP_ADDRESS: undefined,
  DENREI_LOG_LEVEL: /^(trace|debug)$/.test(process.env.DENREI_LOG_LEVEL ?? "")
    ? process.env.DENREI_LOG_LEVEL
    : undefined,
};

async function existingGround(
  { kubeconfig, natsUrl }: OwnCluster,
  { dashboard: plan }: Cast,
): Promise<Ground> {
  const env = { ...replicaEnv, KUBECONFIG: kubeconfig };
  const settings = readSettings(processSettings, {}, { ...process.env, ...env, NATS_URL: natsUrl });
  const bus = await connectBus(busAddress(settings, "denrei-cli"));
  await bus.nc.close();
  const dashboard = plan && ownDashboard();
  const processes = await startLocalProcesses();
  // There may be replicas already, and nobody else has this folder.
  const suffix = suffixOf(processes.directory);
  // Whoever the user is on that bus, the replicas are.
  const natsUrlFor = () => natsUrl;
  return {
    ...{ origin: "existing", processes, kubeconfigPath: undefined, natsUrl, natsUrlFor, env, suffix },
    ...{ dashboard, podLogsPath: undefined },
  };
}

async function localGround({ cast, display, say }: StageOptions, signal: AbortSignal): Promise<Ground> {
  const ours = { ...replicaEnv, ...foreign, NATS_URL: undefined };
  const { cluster } = readSettings(processSettings, {}, { ...process.env, ...ours });
  const notice = leftAlone();
  if (notice !== undefined) say(notice);
  say("Starting a local platform:");
  let platform: LocalPlatform | undefined;
  const partOf = (name: PartName): Child | undefined => {
    const parts: Partial<Record<PartName, Child | undefined>> = {
      "nats-server": platform?.nats,
      etcd: platform?.etcd,
      "kube-apiserver": platform?.apiserver,
      "kube-controller-manager": platform?.controllerManager,
      "kube-scheduler": platform?.scheduler,
      kwok: platform?.nodes?.kwok,
    };
    return parts[name];
  };
  const dashboard = cast.dashboard && (await prepareDashboard(cast.dashboard, { say, signal }));
  platform = await startLocalPlatform({
    signal,
    identities: dashboard?.identities,
    nodes: cast.nodes,
    roles: await shippedRoles(cluster),
    async prepare(path) {
      const client = await connectCluster({ path });
      await installKinds(client, display, signal).finally(() => client.connection.close());
    },
    onProgress: (step) => signal.aborted || display.show(step),
    onUnexpectedExit: (part, exit) => void revive(part, exit, () => partOf(part), { say, signal }),
  });
  const { kubeconfigPath, natsUrlFor } = platform;
  const env = { ...replicaEnv, ...foreign, KUBECONFIG: kubeconfigPath };
  const natsUrl = natsUrlFor("operator");
  return {
    ...{ origin: "local", processes: platform, kubeconfigPath, natsUrl, natsUrlFor, env, suffix: "" },
    dashboard,
    podLogsPath: platform.nodes?.kwok.podLogsPath,
  };
}
