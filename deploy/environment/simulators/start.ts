/** Starts simulators: programs that stand in for services that one machine cannot run. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { AbsentError, UsageError } from "denrei/runtime";
import type { z } from "zod";
import { describeExit, type LocalProcesses } from "../../local/index.ts";
import { existingCluster } from "../existing.ts";

/** A simulator, and the line of JSON that it prints when it is ready. */
export interface Simulator<T> {
  /** The folder below `deploy/simulators`, which is also its name on the command line. */
  readonly name: "github" | "kpack" | "pipecd" | "login";
  /** The service, for messages: `GitHub`. */
  readonly service: string;
  /** The npm package that it needs, if any. It is a development dependency. */
  readonly needs?: string;
  readonly ready: z.ZodType<T>;
}

/** How to start one. */
export interface StartOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called when it exits before it is stopped. Its state is lost. */
  readonly onEnd: (error: Error) => void;
  /** Called with each line of its standard output after the first. */
  readonly onLine?: ((line: string) => void) | undefined;
  readonly signal: AbortSignal;
}

/** Starts child processes and stops them with itself. */
type Spawner = Pick<LocalProcesses, "spawn">;

/** Its program; undefined if the package with the simulators is not installed. */
function programOf({ name }: Simulator<unknown>): string | undefined {
  try {
    const path = fileURLToPath(import.meta.resolve(`@denrei/simulators/${name}/main`));
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Why the simulator cannot be started; undefined if it can. The image has no simulators, and production installs lack their packages. */
export function missingSimulator(simulator: Simulator<unknown>): string | undefined {
  const { service, needs } = simulator;
  const missing = programOf(simulator) === undefined || (needs !== undefined && !isInstalled(needs));
  return missing
    ? `the ${service} simulator is not installed. Install it: npm install --save-dev @denrei/simulators (in a checkout: npm ci)`
    : undefined;
}

/** Throws a `UsageError` for the first simulator that is not installed. */
export function requireSimulators(...simulators: readonly Simulator<unknown>[]): void {
  for (const simulator of simulators) {
    const missing = missingSimulator(simulator);
    if (missing !== undefined) throw new UsageError(missing);
  }
}

/** Throws a `UsageError` if the environment names an existing cluster, where the simulators would have no effect. */
export function refuseExistingCluster(what: string, page: string): void {
  if (existingCluster())
    throw new UsageError(
      `${what} uses simulators and runs on a local platform only. Unset KUBECONFIG and NATS_URL. To use a cluster, see ${page}`,
    );
}

/** Starts the simulator; resolves when it is ready. Throws `ChildStartError`. */
export async function startSimulator<T>(
  { spawn }: Spawner,
  simulator: Simulator<T>,
  { args, env, onEnd, onLine, signal }: StartOptions,
): Promise<T> {
  const { name, service, ready } = simulator;
  const started = Promise.withResolvers<T>();
  let isReady = false;
  await spawn(
    {
      name,
      command: process.execPath,
      args: [programOf(simulator) ?? "", ...args],
      env: { ...env, NODE_NO_WARNINGS: "1" },
      onLine(line) {
        const found = parsed(line, ready);
        if (found === undefined) return onLine?.(line);
        isReady = true;
        started.resolve(found);
      },
      async ready() {
        if (!isReady) throw new Error("it has not printed its ready line");
      },
      onUnexpectedExit: (exit) => onEnd(new AbsentError(`the ${service} simulator ${describeExit(exit)}`)),
    },
    signal,
  );
  return started.promise;
}

/** Starts the simulator as administrator of a cluster; resolves when it is ready. Throws what `startSimulator` throws. */
export const startInCluster = <T>(
  { spawn, kubeconfigPath }: Spawner & { readonly kubeconfigPath: string | undefined },
  simulator: Simulator<T>,
  options: Omit<StartOptions, "args" | "env">,
): Promise<T> =>
  startSimulator({ spawn }, simulator, { ...options, args: [], env: { KUBECONFIG: kubeconfigPath } });

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}

function parsed<T>(line: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
