/**
 * A cluster, a bus, and replicas for one test file, all of them real. The bus ends with the file, and the cluster is reset for the
 * next one. Files that run in parallel share nothing, unless {@link clusterVariable} names an existing cluster.
 */
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { KubeClient, ObjectName } from "../../bus/kube/client.ts";
import { installCrds } from "../../bus/kube/install.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { connectCluster } from "../../bus/process/cluster.ts";
import { crdManifests } from "../../deploy/generate/crds.ts";
import type { LocalNats } from "../../deploy/local/index.ts";
import { functions } from "../../functions/index.ts";
import { changesOf, failureLines, type ReadFailure } from "../ket/changes.ts";
import {
  type GatewayReplica,
  gatewayOf,
  gatewaySettings,
  launchReplica,
  type Replica,
  type StartReplica,
} from "../ket/replica.ts";
import {
  type ClusterPlatform,
  existingPlatform,
  localPlatform,
  type Origin,
  type OwnPlatform,
  type OwnPlatformOptions,
  ownPlatform,
  type TestPlatform,
} from "./platforms.ts";
import { compiledBefore, quickly } from "./start/quick.ts";
import { canBeWarm, warmLaunch } from "./start/warm.ts";

export type { GatewayReplica, Replica } from "../ket/replica.ts";

/** The webhook secret of gateways in tests. */
export const hookSecret = "it is a secret to everybody";

/** Options of a replica. */
export interface ReplicaOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly args?: readonly string[];
  /** Whether the arguments are those of `denrei`, or functions and paths of functions. Only where no other program is given. */
  readonly program?: "denrei" | "functions";
  /** Loads packages from bundles (the default), which is faster, or from their own files. */
  readonly packages?: "bundled" | "themselves";
  /** `warm` (the default): reuses an idle process of an earlier replica. */
  readonly process?: "warm" | "fresh";
  /** What to wait for: readiness, or only the probe port. */
  readonly until?: "ready" | "serving";
  /** The folder of another version of the program, made by `otherVersion`. */
  readonly sources?: string | undefined;
}

/** Options of an environment. */
export interface TestEnvironmentOptions {
  /** The CRDs to install; by default those of every shipped function. The local cluster also has those of test functions. */
  readonly crds?: readonly Record<string, unknown>[];
}

/** Options of an environment with its own control plane. */
export interface OwnTestEnvironmentOptions extends TestEnvironmentOptions, OwnPlatformOptions {}

/** An environment in the local cluster, which other files use before and after it. */
export type LocalTestEnvironment = TestEnvironment<ClusterPlatform>;

/** An environment whose control plane a test may stop or change. */
export type OwnTestEnvironment = TestEnvironment<OwnPlatform>;

/** The environment of a test. */
export interface TestEnvironment<Platform extends TestPlatform = TestPlatform> {
  /** Where the cluster comes from. An existing cluster has older objects and other users. */
  readonly origin: Origin;
  /** Only an {@link OwnTestEnvironment} has access to etcd, the API server, and the other parts. */
  readonly platform: Platform;
  readonly client: KubeClient;
  /**
   * Starts a worker from the real command line. `functions` are names, or paths of modules under `test/fixtures` with the name of their
   * function. Like the bridge, it connects to the bus as the user of its role. It waits for a bridge with its functions.
   */
  worker(name: string, functions: readonly string[], options?: ReplicaOptions): Promise<Replica>;
  bridge(name: string, options?: ReplicaOptions): Promise<Replica>;
  /** Starts a gateway from the real command line, with the secret {@link hookSecret} for the hook `app`, on its own port. */
  gateway(name: string, options?: ReplicaOptions): Promise<GatewayReplica>;
  /** Resolves when the object satisfies the condition; rejects with the current object when `signal` aborts. */
  until<T extends KubeObject>(
    kind: Kind<T>,
    at: ObjectName,
    condition: (object: Stored<T>) => boolean,
    deadlineMillis?: number,
  ): Promise<Stored<T>>;
  /** Resolves when the object does not exist. */
  untilGone(kind: Kind, at: ObjectName, deadlineMillis?: number): Promise<void>;
  list<T extends KubeObject>(kind: Kind<T>, namespace?: string): Promise<Stored<T>[]>;
  /** Stops everything that it started; an existing cluster stays unchanged. */
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const programs = { denrei: "bus/command/denrei.js", functions: "test/fixtures/replica.ts" };
const defaultDeadline = 60_000;

/** Starts a replica. The arguments are those of `denrei`, or a role and paths of modules with functions. */
export async function startReplica(
  platform: LocalNats,
  name: string,
  args: readonly string[],
  {
    env,
    until = "ready",
    program = args.some((arg) => arg.endsWith(".ts")) ? "functions" : "denrei",
    packages = "bundled",
    sources = root,
    process: mode = "warm",
  }: ReplicaOptions,
): Promise<Replica> {
  const variables = {
    NATS_URL: platform.natsUrl,
    DENREI_REPLICA: name,
    DENREI_LOG_LEVEL: "debug",
    NODE_NO_WARNINGS: "1",
    VITEST: undefined,
    ...compiledBefore,
    ...env,
  };
  const order = { program, args, env: { ...process.env, ...variables } };
  const isWarm = mode === "warm" && sources === root && packages === "bundled" && canBeWarm(variables);
  return launchReplica(platform, {
    name,
    cwd: sources,
    args: [...(packages === "bundled" ? quickly() : []), join(sources, programs[program]), ...args],
    env: variables,
    launch: isWarm ? await warmLaunch(order) : undefined,
    until,
  });
}

/** Starts the processes of KET faster than its own way does. */
export const startKetReplica: StartReplica = (platform, name, args, { env }) =>
  startReplica(platform, name, args, {
    program: "functions",
    // A bridge keeps timers of its own.
    process: args[0] === "bridge" ? "fresh" : "warm",
    env,
  });

/** Starts a gateway on its own port, with secrets for GitHub's hook `app`; {@link hookSecret} by default. */
export async function startGateway(
  platform: LocalNats,
  name: string,
  { secrets = [hookSecret], ...options }: ReplicaOptions & { readonly secrets?: readonly string[] },
): Promise<GatewayReplica> {
  const env = { ...(await gatewaySettings(platform, name, secrets)), ...options.env };
  return gatewayOf(
    await startReplica(platform, name, ["gateway", ...(options.args ?? [])], { ...options, env }),
  );
}

/** Starts an environment in the local cluster, or in the one that {@link clusterVariable} names, and installs the CRDs. */
export async function startTestEnvironment(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
  const platform = await existingPlatform();
  return platform === undefined
    ? startLocalTestEnvironment(options)
    : environmentOn("existing", platform, options);
}

/** Starts an environment in the local cluster. Throws when {@link clusterVariable} names an existing cluster. */
export async function startLocalTestEnvironment(
  options: TestEnvironmentOptions = {},
): Promise<LocalTestEnvironment> {
  const platform = await localPlatform();
  // One file can have several environments at a time.
  if (platform === undefined)
    return startOwnTestEnvironment({
      ...options,
      nodes: 1,
      controllerManager: "run",
      audited: true,
      ownersProtected: true,
    });
  return environmentOn("local", platform, { crds: [], ...options });
}

/** Starts an environment with its own control plane. Throws when {@link clusterVariable} names an existing cluster. */
export async function startOwnTestEnvironment(
  options: OwnTestEnvironmentOptions = {},
): Promise<OwnTestEnvironment> {
  const platform = await ownPlatform({
    ...options,
    // For kinds installed later, controllers start collecting garbage only after a while.
    async prepare(path) {
      const client = await connectCluster({ path });
      try {
        await install(client, options);
      } finally {
        await client.connection.close();
      }
    },
  });
  return environmentOn("local", platform, { ...options, crds: [] });
}

const install = (
  client: KubeClient,
  { crds = crdManifests(functions) }: TestEnvironmentOptions,
): Promise<void> =>
  installCrds(client, crds, { fieldManager: "test", signal: AbortSignal.timeout(defaultDeadline) });

async function environmentOn<Platform extends TestPlatform>(
  origin: Origin,
  platform: Platform,
  options: TestEnvironmentOptions,
): Promise<TestEnvironment<Platform>> {
  let client: KubeClient | undefined;
  try {
    client = await connectCluster({ path: platform.kubeconfigPath });
    await install(client, options);
    return environmentWith(origin, platform, client);
  } catch (error) {
    await platform.stop();
    await client?.connection.close();
    throw error;
  }
}

function environmentWith<Platform extends TestPlatform>(
  origin: Origin,
  platform: Platform,
  client: KubeClient,
): TestEnvironment<Platform> {
  const replica = (name: string, role: string, args: string[], more: ReplicaOptions): Promise<Replica> =>
    startReplica(platform, name, args, {
      ...more,
      env: { KUBECONFIG: platform.kubeconfigPath, NATS_URL: platform.natsUrlFor(role), ...more.env },
    });

  return {
    origin,
    platform,
    client,
    worker: (name, fns, more = {}) =>
      replica(name, roleOf(fns), ["worker", ...fns, ...(more.args ?? [])], more),
    bridge: (name, more = {}) => replica(name, "bridge", ["bridge", ...(more.args ?? [])], more),
    gateway: (name, more = {}) =>
      startGateway(platform, name, {
        ...more,
        env: { KUBECONFIG: platform.kubeconfigPath, NATS_URL: platform.natsUrlFor("gateway"), ...more.env },
      }),
    async until(kind, at, condition, deadlineMillis = defaultDeadline) {
      let last: Stored | undefined;
      const failure: ReadFailure = {};
      const signal = AbortSignal.timeout(deadlineMillis);
      for await (const object of changesOf(client, kind, at, signal, failure)) {
        last = object;
        if (object !== undefined && condition(object)) return object;
      }
      throw new Error(
        [
          `${kind.kind} ${at.name} did not become as expected within ${deadlineMillis} ms: ${condition.toString()}; the current object: ${JSON.stringify(last, null, 2)}`,
          ...failureLines(failure),
        ].join("\n"),
      );
    },
    async untilGone(kind, at, deadlineMillis = defaultDeadline) {
      const failure: ReadFailure = {};
      const signal = AbortSignal.timeout(deadlineMillis);
      for await (const object of changesOf(client, kind, at, signal, failure))
        if (object === undefined) return;
      throw new Error(
        [`${kind.kind} ${at.name} still exists after ${deadlineMillis} ms`, ...failureLines(failure)].join(
          "\n",
        ),
      );
    },
    list: async (kind, namespace = "default") => (await client.list(kind, namespace)).items,
    async stop() {
      try {
        await platform.stop();
      } finally {
        await client.connection.close();
      }
    },
  };
}

/** The bus role of a function, by the name of the function or its module. Several functions share one role with the rights of all. */
function roleOf(fns: readonly string[]): string {
  const [fn = "", ...more] = fns;
  return more.length > 0 ? "worker" : basename(fn, ".ts");
}
