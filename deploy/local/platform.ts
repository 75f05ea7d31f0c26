/** The local platform: a control plane, a NATS server, and whatever the caller runs on top of them. */
import type { Role } from "../../bus/permissions.ts";
import { obtainBinaries } from "./binaries/obtain.ts";
import type { Progress } from "./binaries/progress.ts";
import type { ObtainOptions } from "./binaries/request.ts";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "./controlplane.ts";
import type { IdentityGround, Issuer } from "./identities.ts";
import type { NodesSpec } from "./nodes.ts";
import { type Nats, type NatsStorage, startNats } from "./parts/nats.ts";
import { observed, type PartObserver, type PartProgress } from "./parts/part.ts";
import { shippedRoles } from "./roles.ts";
import type { Child, ChildSpec } from "./run/child.ts";
import { openRun, type Run } from "./run/run.ts";
import { adminRole, type LocalUsers, localUsers } from "./users.ts";

/** A step on the way to a running platform: getting a program, or starting it. */
export type PlatformProgress = Progress | PartProgress;

/** How to start. Everything has a default; the signal ends a start that is under way and all it has started. */
export interface LocalNatsOptions
  extends Pick<ObtainOptions, "env" | "patience">,
    Pick<PartObserver, "onUnexpectedExit" | "signal"> {
  readonly onProgress?: ((progress: PlatformProgress) => void) | undefined;
  /** The users of the bus beside the administrator; those of the shipped functions unless given. */
  readonly roles?: readonly Role[] | undefined;
  /** What the NATS server may store, and where: for tests of what happens when it is full. */
  readonly storage?: NatsStorage | undefined;
  /** How often the NATS server looks whether its clients still answer; its own default unless given. */
  readonly pingSeconds?: number | undefined;
}

/** How to start. Everything has a default. */
export interface LocalPlatformOptions extends LocalNatsOptions, Omit<ControlPlaneOptions, "identities"> {
  /** Starts whoever says who people are, which the API server is to trust; without it only certificates do. */
  readonly identities?:
    | ((ground: IdentityGround & Pick<LocalProcesses, "spawn">) => Promise<Issuer>)
    | undefined;
  /** Whether garbage collection, workloads and service accounts work; `run` unless given. */
  readonly controllerManager?: "run" | "omit" | undefined;
  /**
   * How many nodes there are: none unless given. Pods are scheduled onto them and become ready within a second or two,
   * whatever their images are: nothing is pulled and nothing runs. `notReadyAnnotation` is for those that shall not.
   */
  readonly nodes?: number | undefined;
}

/** A place for children. */
export interface LocalProcesses {
  /** Holds logs and data; gone after `stop`. */
  readonly directory: string;
  /**
   * Starts a program whose life is bound to this process. Its log goes to `logs/<name>.log` in the directory (and to
   * `onLine`); `stop` ends it before the parts; it can be stopped and started again.
   */
  spawn(spec: ChildSpec, signal?: AbortSignal): Promise<Child>;
  /** The same, not started yet: for whoever may want to end it before it is ready. */
  prepare(spec: ChildSpec): Child;
  /** Stops everything and removes the directory. Calling it again waits for the same end. */
  stop(): Promise<void>;
}

/** A NATS server, and a place for children. */
export interface LocalNats extends LocalProcesses {
  /** The bus, with the password of the administrator, who may do everything. */
  readonly natsUrl: string;
  /** The bus as the user of a role: `bridge`, `operator`, `worker` for all functions, or the name of one. */
  natsUrlFor(role: string): string;
  readonly nats: Nats;
}

/** A whole platform. */
export interface LocalPlatform extends LocalNats, ControlPlane {}

/** Starts a NATS server alone, for what needs no Kubernetes. */
export async function startLocalNats(options: LocalNatsOptions = {}): Promise<LocalNats> {
  const binaries = await obtainBinaries(["nats-server"], options);
  return inRun(async (run) => {
    const bus = await startBus(run, binaries["nats-server"].path, options);
    return { ...surface(run), ...bus };
  });
}

/**
 * Starts etcd, kube-apiserver, kube-controller-manager and nats-server on free ports of 127.0.0.1, and kube-scheduler and
 * kwok when there are to be nodes. Resolves when all of them are ready; throws, with nothing left behind, when one of them
 * is not.
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
    const place = surface(run);
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
        { ...options, identities: identities && ((ground) => identities({ ...ground, ...place })) },
      ),
    ]);
    return { ...controlPlane, ...place, ...bus };
  });
}

/** Throws a `RangeError` on a number of nodes that there can not be. */
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
  const { users, urlFor }: LocalUsers = localUsers(options.roles ?? (await shippedRoles()));
  const nats = await observed("nats-server", binary, options, (part) =>
    startNats(run, users, { ...part, storage: options.storage, pingSeconds: options.pingSeconds }),
  );
  const natsUrlFor = (role: string) => urlFor(role, nats.url);
  return { nats, natsUrl: natsUrlFor(adminRole.name), natsUrlFor };
}

/** Opens a place for children alone, for when cluster and bus are somebody else's. */
export const startLocalProcesses = (): Promise<LocalProcesses> => inRun(async (run) => surface(run));

/** Opens a run for `start`, and closes it again when that fails: what it was starting ends with it. */
async function inRun<T>(start: (run: Run) => Promise<T>): Promise<T> {
  const run = await openRun();
  try {
    return await start(run);
  } catch (error) {
    await run.close();
    throw error;
  }
}

/** What a caller does with a run. Its own children end before the parts do: their last words need somewhere to go. */
function surface(run: Run): LocalProcesses {
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
