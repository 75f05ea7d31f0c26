/** The bridge, workers, gateways, and the dashboard as child processes that restart when they exit. */
import { launcher } from "denrei/runtime";
import type { Child, LocalProcesses } from "../local/index.ts";
import { type RestartOptions, restart } from "./restart.ts";

/** The subcommand of `denrei` that a replica runs. */
export type ReplicaRole = "bridge" | "worker" | "gateway" | "dashboard" | "admission";

/** Options of all replicas. */
export interface ReplicaOptions extends RestartOptions {
  readonly processes: LocalProcesses;
  /** Makes names unique on a shared bus. */
  readonly suffix: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The address of the bus for each role. */
  natsUrlFor(role: Exclude<ReplicaRole, "admission">): string;
  /** Called with each log line of a replica. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/** The number of workers, and the names of their functions, or `all`. */
export interface WorkerOptions {
  readonly workers: number;
  readonly functions: readonly string[];
}

/** Workers hand back their in-flight objects at once, so a clean shutdown takes no longer. Milliseconds. */
const graceMillis = 2500;

/**
 * Starts `bridge-1`, `worker-1` and so on, and resolves when all of them are ready: the workers, then the bridge.
 */
export async function startReplicas(
  { workers, functions }: WorkerOptions,
  options: ReplicaOptions,
): Promise<Child[]> {
  const { suffix } = options;
  const names = Array.from({ length: workers }, (_, at) => `worker-${at + 1}${suffix}`);
  return Promise.all([
    ...names.map((name) => startReplica(name, "worker", functions, options)),
    startReplica(`bridge-1${suffix}`, "bridge", [], options),
  ]);
}

/** Starts a replica; resolves when it is ready. */
export async function startReplica(
  name: string,
  role: ReplicaRole,
  args: readonly string[],
  options: ReplicaOptions,
): Promise<Child> {
  const { processes, natsUrlFor, signal } = options;
  // The webhook of the API server needs no bus.
  const env = { ...options.env, NATS_URL: role === "admission" ? undefined : natsUrlFor(role) };
  // Readiness is read from the log: probes listen on a random port.
  let ready = false;
  let child: Child | undefined;
  child = await processes.spawn(
    {
      name,
      command: process.execPath,
      args: [launcher, role, ...args],
      env: { ...env, DENREI_REPLICA: name, NODE_NO_WARNINGS: "1" },
      graceMillis,
      onLine(line) {
        ready ||= /"msg":"(bridge|worker|gateway|dashboard|admission) ready"/.test(line);
        options.onLine?.(line);
      },
      async ready() {
        if (!ready) throw new Error("it has not logged that it is ready");
      },
      onUnexpectedExit(exit) {
        ready = false;
        void restart(name, exit, () => child, options);
      },
    },
    signal,
  );
  return child;
}
