/** The local platform: a control plane, a NATS server, and the caller's processes. */
import type { Role } from "denrei/bus";
import { obtainBinaries } from "./binaries/obtain.ts";
import type { Progress } from "./binaries/progress.ts";
import type { ObtainOptions } from "./binaries/request.ts";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "./controlplane.ts";
import type { Issuer, IssuerEnvironment } from "./identities.ts";
import type { NodesSpec } from "./nodes.ts";
import { type Nats, type NatsStorage, startNats } from "./parts/nats.ts";
import { type PartObserver, type PartProgress, startObserved } from "./parts/part.ts";
import type { Child, ChildSpec } from "./run/child.ts";
import { openRun, type Run } from "./run/run.ts";
import { adminRole, type LocalUsers, localUsers, projectRoles } from "./users.ts";

/** A step towards a running platform: obtaining or starting a program. */
export type PlatformProgress = Progress | PartProgress;

/** Options of a NATS server. All have defaults. The signal aborts the start and ends everything started so far. */
export interface LocalNatsOptions
  extends Pick<ObtainOptions, "env" | "timeouts">,
    Pick<PartObserver, "onUnexpectedExit" | "signal"> {
  readonly onProgress?: ((progress: PlatformProgress) => void) | undefined;
  /** Users of the bus in addition to the administrator. Default: those of the shipped functions. */
  readonly roles?: readonly Role[] | undefined;
  /** Storage of the NATS server, for tests of a full one. */
  readonly storage?: NatsStorage | undefined;
  /** Interval at which the NATS server pings its clients. Default: that of NATS. */
  readonly pingSeconds?: number | undefined;
}

/** Options of a platform. All have defaults. */
export interface LocalPlatformOptions extends LocalNatsOptions, Omit<ControlPlaneOptions, "identities"> {
  /** Starts an OpenID Connect issuer, whose tokens the API server trusts. Without it, only certificates authenticate. */
  readonly identities?:
    | ((environment: IssuerEnvironment & Pick<LocalProcesses, "spawn">) => Promise<Issuer>)
    | undefined;
  /** Whether to run garbage collection, workload controllers, and service accounts. Default: `run`. */
  readonly controllerManager?: "run" | "omit" | undefined;
  /**
   * Number of simulated nodes. Default: none. Pods with any image become ready on them within a second or two:
   * nothing is pulled, and nothing runs. Pods with `notReadyAnnotation` stay unready.
   */
  readonly nodes?: number | undefined;
}

/** Runs child processes. */
export interface LocalProcesses {
  /** Directory for logs and data, removed by `stop`. */
  readonly directory: string;
  /**
   * Starts a program that ends with this process. Its log is `logs/<name>.log` in the directory, and its lines go to `onLine`.
   * `stop` ends it before the platform's parts. It can be stopped and started again.
   */
  spawn(spec: ChildSpec, signal?: AbortSignal): Promise<Child>;
  /** The same without starting it, for callers that may stop it before it is ready. */
  prepare(spec: ChildSpec): Child;
  /** Stops everything and removes the directory. Further calls wait for the same end. */
  stop(): Promise<void>;
}

/** A NATS server with child processes. */
export interface LocalNats extends LocalProcesses {
  /** URL of the bus with the password of the administrator, who has all rights. */
  readonly natsUrl: string;
  /** URL of the bus for the user of a role: `bridge`, `operator`, `worker` for all functions, or the name of a function. */
  natsUrlFor(role: string): string;
  readonly nats: Nats;
}

/** A whole platform. */
export interface LocalPlatform extends LocalNats, ControlPlane {}

/** Starts only a NATS server. */
export async function startLocalNats(options: LocalNatsOptions = {}): Promise<LocalNats> {
  const binaries = await obtainBinaries(["nats-server"], options);
  return inRun(async (run) => {
    const bus = await startBus(run, binaries["nats-server"].path, options);
    return { ...processesOf(run), ...bus };
  });
}

/**
 * Starts etcd, kube-apiserver, kube-controller-manager, and nats-server on free ports of 127.0.0.1, and kube-scheduler and
 * kwok if `nodes` is greater than 0. Resolves when all of them are ready. If one fails, throws and leaves nothing behind.
 */
export async function startLocalPlatform(options: LocalPlatformOptions = {}): Promise<LocalPlatform> {
  const binaries = await obtainBinaries(["nats-server", "etcd", "kube-apiserver"], options);
  const controllerManager =
    options.controllerManager === "omit"
      ? undefined
      : (await obtainBinaries(["kube-controller-manager"], options))["kube-controller-manager"];
  const nodes = await nodesSpec(options);
  const { identities } = options;
  return inRun(async (run) => {
    const processes = processesOf(run);
    const [bus, controlPlane] = await Promise.all([
      startBus(run, binaries["nats-server"].path, options),
      startControlPlane(
        run,
        {
          etcd: binaries.etcd.path,
          apiserver: binaries["kube-apiserver"].path,
          controllerManager: controllerManager?.path,
          nodes,
        },
        {
          ...options,
          identities: identities && ((environment) => identities({ ...environment, ...processes })),
        },
      ),
    ]);
    return { ...controlPlane, ...processes, ...bus };
  });
}

async function nodesSpec(options: LocalPlatformOptions): Promise<NodesSpec | undefined> {
  const count = options.nodes ?? 0;
  if (!Number.isInteger(count) || count < 0) {
    throw new RangeError(`expected a number of nodes, 0 or more, found ${count}`);
  }
  if (count === 0) return undefined;
  const binaries = await obtainBinaries(["kube-scheduler", "kwok"], options);
  return { count, scheduler: binaries["kube-scheduler"].path, kwok: binaries.kwok.path };
}

/** Starts the NATS server with its users. */
async function startBus(
  run: Run,
  binary: string,
  options: LocalNatsOptions,
): Promise<Pick<LocalNats, "nats" | "natsUrl" | "natsUrlFor">> {
  const { users, urlFor }: LocalUsers = localUsers(options.roles ?? (await projectRoles()));
  const nats = await startObserved("nats-server", binary, options, (part) =>
    startNats(run, users, { ...part, storage: options.storage, pingSeconds: options.pingSeconds }),
  );
  const natsUrlFor = (role: string) => urlFor(role, nats.url);
  return { nats, natsUrl: natsUrlFor(adminRole.name), natsUrlFor };
}

/** Runs only child processes, for use with an existing cluster and bus. */
export const startLocalProcesses = (): Promise<LocalProcesses> => inRun(async (run) => processesOf(run));

/** Opens a run for `start`, and closes it when `start` fails, which ends everything it started. */
async function inRun<T>(start: (run: Run) => Promise<T>): Promise<T> {
  const run = await openRun();
  try {
    return await start(run);
  } catch (error) {
    await run.close();
    throw error;
  }
}

/** The caller's view of a run. The caller's children end before the parts, so that they can still report to these. */
function processesOf(run: Run): LocalProcesses {
  const spawned: Child[] = [];
  let stopping: Promise<void> | undefined;

  async function stop(): Promise<void> {
    await Promise.all(spawned.map((child) => child.stop()));
    await run.close();
  }

  function prepare(spec: ChildSpec): Child {
    const child = run.child(spec);
    spawned.push(child);
    return child;
  }

  return {
    directory: run.directory,
    prepare,
    async spawn(spec, signal) {
      const child = prepare(spec);
      await child.start(signal);
      return child;
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}
