/** The bridge and the workers as separate processes, each started again when it dies. */
import { fileURLToPath } from "node:url";
import type { Child, LocalProcesses } from "../local/index.ts";
import { type RestartOptions, restart } from "./restart.ts";

/** The command that a replica runs. */
export type ReplicaRole = "bridge" | "worker" | "gateway" | "dashboard";

/** What all replicas are started with. */
export interface ReplicaOptions extends RestartOptions {
  readonly processes: LocalProcesses;
  /** Makes the names differ from those of other replicas on the same bus. */
  readonly suffix: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The address of the bus for each role. */
  natsUrlFor(role: ReplicaRole): string;
  /** Told of each line of a replica's log. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/** Which workers to start, and what they run: names of functions, or `all`. */
export interface WorkerOptions {
  readonly workers: number;
  readonly functions: readonly string[];
}

const program = fileURLToPath(new URL("../cli/denrei.js", import.meta.url));
/** An object that is being reconciled is handed back at once; a clean end takes no longer. Milliseconds. */
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

/** Starts one, and resolves when it is ready. */
export async function startReplica(
  name: string,
  role: ReplicaRole,
  args: readonly string[],
  options: ReplicaOptions,
): Promise<Child> {
  const { processes, natsUrlFor, signal } = options;
  const env = { ...options.env, NATS_URL: natsUrlFor(role) };
  // A replica says that it is ready in its log; its probes listen on a port that only it knows.
  let ready = false;
  let child: Child | undefined;
  child = await processes.spawn(
    {
      name,
      command: process.execPath,
      args: [program, role, ...args],
      env: { ...env, DENREI_REPLICA: name, NODE_NO_WARNINGS: "1" },
      graceMillis,
      onLine(line) {
        ready ||= /"msg":"(bridge|worker|gateway|dashboard) ready"/.test(line);
        options.onLine?.(line);
      },
      async ready() {
        if (!ready) throw new Error("it has not said that it is ready");
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
