/** Where `demo` and `up` run: on a local platform, or on the cluster and bus that the environment names. */
import { basename } from "node:path";
import { busAddress, connectBus } from "../../bus/connect.ts";
import type { KubeClient } from "../../bus/kube/client.ts";
import { installCrds } from "../../bus/kube/install.ts";
import { connectCluster } from "../../bus/process/cluster.ts";
import { processSettings, readSettings } from "../../bus/process/config.ts";
import { redacted } from "../../bus/redact.ts";
import { functions } from "../../functions/index.ts";
import { crdManifests } from "../generate/crds.ts";
import {
  type BinaryName,
  type Child,
  type LocalPlatform,
  type LocalProcesses,
  shippedRoles,
  startLocalPlatform,
  startLocalProcesses,
} from "../local/index.ts";
import { duration, type ProgressDisplay } from "./progress.ts";
import { startReplicas } from "./replicas.ts";
import { revive } from "./revive.ts";

/** A cluster with the CRDs, a bus, some workers and one bridge. */
export interface Stage {
  readonly client: KubeClient;
  readonly origin: "local" | "existing";
  /** Undefined for an existing cluster: its kubeconfig is the user's own. */
  readonly kubeconfigPath: string | undefined;
  /** For an operator. */
  readonly natsUrl: string;
  readonly directory: string;
  /** The workers, then the bridge. */
  readonly replicas: readonly Child[];
  stop(): Promise<void>;
}

/** What to set up, and who is told. */
export interface StageOptions {
  readonly workers: number;
  readonly display: ProgressDisplay;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** What the replicas run on. */
interface Ground extends Pick<Stage, "origin" | "kubeconfigPath" | "natsUrl"> {
  natsUrlFor(role: "bridge" | "worker"): string;
  readonly processes: LocalProcesses;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly suffix: string;
}

/** Sets the stage. With both KUBECONFIG and NATS_URL set, it is theirs; otherwise everything is local. */
export async function setStage(options: StageOptions): Promise<Stage> {
  const { workers, display, say } = options;
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  const { KUBECONFIG, NATS_URL } = process.env;
  const ground =
    KUBECONFIG && NATS_URL ? await existingGround(KUBECONFIG, NATS_URL) : await localGround(options, signal);
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
    }
    await installCrds(client, crdManifests(functions), { fieldManager: "denrei-cli", signal });
    display.line("CRDs", "installed", "result");
    const begun = performance.now();
    const cast = `${workers} ${workers === 1 ? "worker" : "workers"}, 1 bridge`;
    display.line(cast, "starting", "moving");
    const replicas = await startReplicas({ ...ground, workers, say, signal });
    display.line(cast, `ready after ${duration(performance.now() - begun)}`, "result");
    const { directory } = processes;
    return { client, origin, kubeconfigPath, natsUrl, directory, replicas, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    display.done();
  }
}

/** Where the replicas' probes listen, and what they log, is the stage's business, whatever the environment says. */
const replicaEnv = {
  DENREI_HTTP_ADDRESS: undefined,
  DENREI_LOG_LEVEL: /^(trace|debug)$/.test(process.env.DENREI_LOG_LEVEL ?? "")
    ? process.env.DENREI_LOG_LEVEL
    : undefined,
};

async function existingGround(kubeconfig: string, natsUrl: string): Promise<Ground> {
  const env = { ...replicaEnv, KUBECONFIG: kubeconfig };
  const settings = readSettings(processSettings, {}, { ...process.env, ...env, NATS_URL: natsUrl });
  const bus = await connectBus(busAddress(settings, "denrei-cli"));
  await bus.nc.close();
  const processes = await startLocalProcesses();
  // There may be replicas already, and nobody else has this folder.
  const suffix = basename(processes.directory).replace(/^denrei/, "");
  // Whoever the user is on that bus, the replicas are.
  const natsUrlFor = () => natsUrl;
  return { origin: "existing", processes, kubeconfigPath: undefined, natsUrl, natsUrlFor, env, suffix };
}

async function localGround({ display, say }: StageOptions, signal: AbortSignal): Promise<Ground> {
  // These are about a bus and a cluster that are not used here.
  const foreign = {
    NATS_CREDS: undefined,
    NATS_CA: undefined,
    NATS_CERT: undefined,
    NATS_KEY: undefined,
    DENREI_STREAM_REPLICAS: undefined,
    DENREI_NAMESPACES: undefined,
  };
  const ours = { ...replicaEnv, ...foreign, NATS_URL: undefined };
  const { cluster } = readSettings(processSettings, {}, { ...process.env, ...ours });
  const { KUBECONFIG, NATS_URL } = process.env;
  if (KUBECONFIG || NATS_URL) {
    say(
      `Only ${KUBECONFIG ? "KUBECONFIG" : "NATS_URL"} is set and not the other one, so both are left alone.`,
    );
  }
  say("Starting a local platform:");
  let platform: LocalPlatform | undefined;
  const partOf = (name: BinaryName): Child | undefined =>
    platform &&
    {
      "nats-server": platform.nats,
      etcd: platform.etcd,
      "kube-apiserver": platform.apiserver,
      "kube-controller-manager": platform.controllerManager,
      kwok: undefined,
    }[name];
  platform = await startLocalPlatform({
    signal,
    roles: shippedRoles(cluster),
    onProgress: (step) => signal.aborted || display.show(step),
    onUnexpectedExit: (part, exit) => void revive(part, exit, () => partOf(part), { say, signal }),
  });
  const { kubeconfigPath, natsUrlFor } = platform;
  const env = { ...replicaEnv, ...foreign, KUBECONFIG: kubeconfigPath };
  const natsUrl = natsUrlFor("operator");
  return { origin: "local", processes: platform, kubeconfigPath, natsUrl, natsUrlFor, env, suffix: "" };
}
