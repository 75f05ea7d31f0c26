/** What `denrei dev` runs on: a local platform of its own, or the cluster and the bus that the environment names. */
import { basename } from "node:path";
import { redacted } from "../../../bus/values/redact.ts";
import {
  type BinaryName,
  type Child,
  type LocalPlatform,
  type LocalProcesses,
  startLocalPlatform,
  startLocalProcesses,
} from "../../local/index.ts";
import {
  type DashboardPlan,
  ownDashboard,
  type PreparedDashboard,
  prepareDashboard,
} from "../demo/dashboards.ts";
import type { ProgressDisplay } from "../demo/progress.ts";
import { revive } from "../demo/revive.ts";
import { foreign, leftAlone, ownCluster } from "../foreign.ts";
import { lostFieldsVariable } from "./told.ts";

/** Cluster and bus, and a place for children. */
export interface Ground {
  readonly processes: LocalProcesses;
  /** Undefined where the cluster is the user's own. */
  readonly kubeconfigPath: string | undefined;
  readonly natsUrl: string;
  /** What replicas are told of it in their environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What tells names from those of others on the same bus. */
  readonly suffix: string;
  /** The dashboard that is to be in front; undefined if there is to be none. */
  readonly dashboard: PreparedDashboard | undefined;
}

/** Who is told, and when to give up. */
export interface GroundOptions {
  readonly display: ProgressDisplay;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  /** A worker may be stopped by a debugger, and answer nothing for as long as somebody looks. */
  readonly isDebugged: boolean;
  /** How many nodes a local platform has. */
  readonly nodes: number;
  /** A dashboard in front; none unless given. */
  readonly dashboard: DashboardPlan | undefined;
}

/** With both KUBECONFIG and NATS_URL set, it is theirs; otherwise everything is local. */
export async function openGround(options: GroundOptions): Promise<Ground> {
  const own = ownCluster();
  if (own === undefined) return localGround(options);
  const { kubeconfig, natsUrl } = own;
  const dashboard = options.dashboard && ownDashboard();
  options.say(`Using the cluster of ${kubeconfig} and the bus at ${redacted(natsUrl)}.`);
  const processes = await startLocalProcesses();
  const suffix = basename(processes.directory).replace(/^denrei/, "");
  const env = { [lostFieldsVariable]: undefined };
  return { processes, kubeconfigPath: undefined, natsUrl, env, suffix, dashboard };
}

/** A client that does not answer is taken for dead after three times this. */
const debuggedPingSeconds = 24 * 3600;

async function localGround({
  display,
  say,
  signal,
  nodes,
  isDebugged,
  dashboard: plan,
}: GroundOptions): Promise<Ground> {
  const notice = leftAlone();
  if (notice !== undefined) say(notice);
  say("Starting a local platform:");
  let platform: LocalPlatform | undefined;
  const partOf = (name: BinaryName): Child | undefined =>
    platform &&
    (
      {
        "nats-server": platform.nats,
        etcd: platform.etcd,
        "kube-apiserver": platform.apiserver,
        "kube-controller-manager": platform.controllerManager,
        "kube-scheduler": platform.scheduler,
        kwok: platform.nodes?.kwok,
      } as Partial<Record<BinaryName, Child>>
    )[name];
  const dashboard = plan && (await prepareDashboard(plan, { say, signal }));
  platform = await startLocalPlatform({
    signal,
    nodes,
    identities: dashboard?.identities,
    // What a function may do on the bus follows from its declaration, which changes here: the replicas may do everything.
    roles: [],
    ...(isDebugged && { pingSeconds: debuggedPingSeconds }),
    onProgress: (step) => signal.aborted || display.show(step),
    onUnexpectedExit: (part, exit) => void revive(part, exit, () => partOf(part), { say, signal }),
  });
  const { kubeconfigPath, natsUrl } = platform;
  const env = { ...foreign, KUBECONFIG: kubeconfigPath, NATS_URL: natsUrl, [lostFieldsVariable]: "drop" };
  return { processes: platform, kubeconfigPath, natsUrl, env, suffix: "", dashboard };
}
