/** What `demo` and `up` run in: an environment with CRDs, workers, one bridge, and optionally gateways and a dashboard. */
import type { KubeClient } from "denrei/kubernetes";
import type { RunningDashboard } from "../../environment/dashboard.ts";
import type { Environment, EnvironmentOptions } from "../../environment/environment.ts";
import type { Hook, ProviderHook, Providers } from "../../environment/gateways.ts";
import type { ProgressDisplay } from "../../environment/progress.ts";
import type { ReplicaOptions, WorkerOptions } from "../../environment/replicas.ts";
import type { Child, LocalProcesses } from "../../local/index.ts";

/** The environment of a demo, with everything in it ready. */
export interface DemoEnvironment
  extends Pick<Environment, "origin" | "kubeconfigPath" | "natsUrl" | "podLogsPath"> {
  readonly client: KubeClient;
  readonly directory: string;
  /** Lower-case letters and digits, unique to this run, for names of objects. */
  readonly id: string;
  /** The workers, then the bridge, then the gateways, then the dashboard, then the webhook of the API server. */
  readonly replicas: readonly Child[];
  /** Where the gateways receive webhooks of each provider; no addresses without gateways. */
  readonly hooks: readonly ProviderHook[];
  /** Undefined without a dashboard. */
  readonly dashboard: RunningDashboard | undefined;
  /** Starts a further process, which ends with the environment. */
  readonly spawn: LocalProcesses["spawn"];
  stop(): Promise<void>;
}

/** What a demo needs in addition to the bridge. */
export interface DemoParts extends WorkerOptions, Pick<ReplicaOptions, "onLine"> {
  readonly gateways: number;
  /** The providers of webhooks. Default: GitHub. */
  readonly providers?: Providers | undefined;
  readonly dashboard: boolean;
  /** Number of nodes of a local platform, 0 unless given. */
  readonly nodes?: number;
  /** Starts what must run before the replicas, and returns environment variables for them. */
  readonly before?: (preparation: Preparation) => Promise<ReplicaOptions["env"]>;
}

/** What exists before the replicas start, and where the gateways and the dashboard will listen. */
export interface Preparation
  extends Pick<DemoEnvironment, "origin" | "id" | "kubeconfigPath" | "spawn" | "directory" | "dashboard">,
    Pick<DemoEnvironmentOptions, "display" | "signal"> {
  /** The hook of the first provider. */
  readonly hook: Hook;
}

/** What to start. */
export interface DemoEnvironmentOptions extends Pick<EnvironmentOptions, "rights"> {
  readonly parts: DemoParts;
  readonly display: ProgressDisplay;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}
