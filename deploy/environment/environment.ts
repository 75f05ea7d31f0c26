/**
 * The environment of `denrei demo`, `up` and `dev`: a control plane and a bus that replicas run on. It is the cluster and the bus
 * that KUBECONFIG and NATS_URL name, if both are set, and a local platform otherwise.
 */
import { basename } from "node:path";
import type { Role } from "denrei/bus";
import {
  type Child,
  type LocalPlatform,
  type LocalProcesses,
  type PartName,
  startLocalPlatform,
  startLocalProcesses,
} from "../local/index.ts";
import { existingDashboard, type PreparedDashboard, prepareDashboard } from "./dashboard.ts";
import {
  type ExistingCluster,
  existingCluster,
  ignoredVariableNotice,
  withoutForeignSettings,
} from "./existing.ts";
import type { ProgressDisplay } from "./progress.ts";
import type { ReplicaOptions } from "./replicas.ts";
import { restart } from "./restart.ts";
import { type Accounts, localAccounts, runAccounts } from "./roles.ts";

/** A control plane and a bus. */
export interface Environment {
  readonly origin: "local" | "existing";
  /** Starts further processes, which end with the environment. */
  readonly processes: LocalProcesses;
  /** Undefined for an existing cluster: its kubeconfig belongs to the user. */
  readonly kubeconfigPath: string | undefined;
  /** The bus, for an operator. */
  readonly natsUrl: string;
  readonly natsUrlFor: ReplicaOptions["natsUrlFor"];
  /** Environment variables of replicas. */
  readonly env: ReplicaOptions["env"];
  /** Makes names of replicas unique on a shared bus. Empty for a local platform. */
  readonly suffix: string;
  /** The accounts of functions and bridge; undefined if they have the rights of the kubeconfig's user. */
  readonly accounts: Accounts | undefined;
  /** The dashboard to start, if one was planned. */
  readonly dashboard: PreparedDashboard | undefined;
  /** The file that serves as the log of every container. Undefined where pods write their own, or where there are no nodes. */
  readonly podLogsPath: string | undefined;
}

/** How to open an environment. */
export interface EnvironmentOptions {
  readonly display: ProgressDisplay;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  readonly dashboard: boolean;
  /** `generated`: each function has the rights that follow from its declaration. `own`: those of the kubeconfig's user. */
  readonly rights: "generated" | "own";
  /** Checks an existing cluster before anything is started. */
  readonly checkExisting?: (cluster: ExistingCluster) => Promise<void>;
  /** The local platform; an existing cluster ignores it. */
  readonly local: {
    /** Number of nodes, 0 unless given. */
    readonly nodes?: number | undefined;
    /** Users of the bus. Without roles every replica has all permissions. */
    readonly roles: readonly Role[];
    /** How often the bus pings its clients. Seconds; the server's default unless given. */
    readonly pingSeconds?: number | undefined;
    /** Runs as soon as the API server answers, before controllers start. */
    readonly prepare?: (kubeconfigPath: string) => Promise<void>;
  };
}

/** Opens the environment. Throws what starting a platform throws, and a `ConfigError` for settings of a dashboard. */
export async function openEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const cluster = existingCluster();
  return cluster ? openExisting(cluster, options) : openLocal(options);
}

async function openExisting(
  cluster: ExistingCluster,
  { dashboard: withDashboard, rights, checkExisting }: EnvironmentOptions,
): Promise<Environment> {
  await checkExisting?.(cluster);
  const { kubeconfig, natsUrl } = cluster;
  const dashboard = withDashboard ? existingDashboard() : undefined;
  const processes = await startLocalProcesses();
  // Other replicas may use the same bus, and no other run has this folder.
  const suffix = suffixOf(processes.directory);
  const accounts = rights === "own" ? undefined : runAccounts(suffix.replaceAll("-", "").toLowerCase());
  return {
    origin: "existing",
    processes,
    kubeconfigPath: undefined,
    natsUrl,
    // The replicas share the user's own credentials.
    natsUrlFor: () => natsUrl,
    env: { KUBECONFIG: kubeconfig, ...impersonating(accounts) },
    suffix,
    accounts,
    dashboard,
    podLogsPath: undefined,
  };
}

async function openLocal({
  display,
  say,
  signal,
  dashboard: withDashboard,
  rights,
  local,
}: EnvironmentOptions): Promise<Environment> {
  const notice = ignoredVariableNotice();
  if (notice !== undefined) say(notice);
  say("Starting a local platform:");
  let platform: LocalPlatform | undefined;
  const dashboard = withDashboard ? await prepareDashboard({ say, signal }) : undefined;
  platform = await startLocalPlatform({
    ...local,
    // Some clusters enforce this, so that a missing permission shows here as well.
    ownersProtected: rights === "generated",
    signal,
    identities: dashboard?.identities,
    onProgress: (step) => signal.aborted || display.show(step),
    onUnexpectedExit: (part, exit) => void restart(part, exit, () => partOf(platform, part), { say, signal }),
  });
  const { kubeconfigPath, natsUrlFor } = platform;
  const accounts = rights === "own" ? undefined : localAccounts;
  const natsUrl = local.roles.length > 0 ? natsUrlFor("operator") : platform.natsUrl;
  return {
    origin: "local",
    processes: platform,
    kubeconfigPath,
    natsUrl,
    natsUrlFor,
    env: { ...withoutForeignSettings, KUBECONFIG: kubeconfigPath, ...impersonating(accounts) },
    suffix: "",
    accounts,
    dashboard,
    podLogsPath: platform.nodes?.kwok.podLogsPath,
  };
}

function partOf(platform: LocalPlatform | undefined, name: PartName): Child | undefined {
  const parts: Partial<Record<PartName, Child | undefined>> = {
    "nats-server": platform?.nats,
    etcd: platform?.etcd,
    "kube-apiserver": platform?.apiserver,
    "kube-controller-manager": platform?.controllerManager,
    "kube-scheduler": platform?.scheduler,
    kwok: platform?.nodes?.kwok,
  };
  return parts[name];
}

/** Variables that give processes the rights of their accounts. */
const impersonating = (accounts: Accounts | undefined) => ({
  DENREI_IMPERSONATE_NAMESPACE: accounts?.namespace,
});

/** The part of a run's folder that no other run has: `-Ab1Cd2`. */
export const suffixOf = (directory: string): string => basename(directory).replace(/^denrei/, "");
