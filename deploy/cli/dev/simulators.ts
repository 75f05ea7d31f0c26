/** The simulators of `denrei dev --simulate`. */
import type { Environment } from "../../environment/environment.ts";
import { githubSimulator } from "../../environment/simulators/github.ts";
import { kpackSimulator } from "../../environment/simulators/kpack.ts";
import { addressesOf, pipecdSimulator } from "../../environment/simulators/pipecd.ts";
import {
  refuseExistingCluster,
  requireSimulators,
  type Simulator,
  startInCluster,
} from "../../environment/simulators/start.ts";
import type { DevGitHub, DevGitHubOptions } from "./github.ts";
import type { Receiver } from "./receiver.ts";
import type { Simulated } from "./simulated.ts";

/** How to start them. */
export interface SimulatorsOptions {
  readonly environment: Environment;
  readonly receiver: Receiver | undefined;
  /** Called when one exits before it is stopped. */
  readonly onEnd: (error: Error) => void;
  /** Called with each webhook that was not delivered. */
  readonly onUndelivered: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The running simulators. */
export interface RunningSimulators {
  readonly github: DevGitHub | undefined;
  /** Environment variables with their addresses, for replicas. */
  readonly env: Readonly<Record<string, string>>;
}

const simulators: Readonly<Record<Simulated, Simulator<unknown>>> = {
  github: githubSimulator,
  kpack: kpackSimulator,
  pipecd: pipecdSimulator,
};

/** Throws a `UsageError` if a simulator is not installed, or has no effect in an existing cluster. */
export function checkSimulators(names: readonly Simulated[]): void {
  requireSimulators(...names.map((name) => simulators[name]));
  for (const name of ["kpack", "pipecd"] as const) {
    if (names.includes(name))
      refuseExistingCluster(`--simulate ${name}`, `docs/${name === "kpack" ? "paas" : name}.md`);
  }
}

/** Starts them; resolves when all are ready. Throws what `startSimulator` throws. */
export async function startSimulators(
  names: readonly Simulated[],
  { environment, receiver, onUndelivered, ...options }: SimulatorsOptions,
): Promise<RunningSimulators> {
  const { processes, kubeconfigPath } = environment;
  const cluster = { spawn: processes.spawn, kubeconfigPath };
  const [github, , pipecd] = await Promise.all([
    names.includes("github") && receiver
      ? startDevGitHub({ ...options, onLine: onUndelivered, environment, receiver })
      : undefined,
    names.includes("kpack") ? startInCluster(cluster, kpackSimulator, options) : undefined,
    names.includes("pipecd") ? startInCluster(cluster, pipecdSimulator, options) : undefined,
  ]);
  return { github, env: { ...github?.connection, ...(pipecd && addressesOf(pipecd)) } };
}

async function startDevGitHub(options: DevGitHubOptions): Promise<DevGitHub> {
  // Loaded late: it loads kinds of this project's functions, whose code may be broken.
  const { openGitHub } = await import("./github.ts");
  return openGitHub(options);
}
