/** The PaaS on a real control plane: replicas, gateways, simulated nodes, the emulated GitHub, and the stand-in for kpack. */
import { randomUUID } from "node:crypto";
import { allowedUrlsVariable } from "../../bus/github/allowed.ts";
import { isAlreadyExists } from "../../bus/kube/errors.ts";
import { type Kind, Namespace } from "../../bus/kube/kind.ts";
import {
  type GitHubOptions,
  type SimulatedGitHub,
  startGitHub,
} from "../../deploy/simulators/github/github.ts";
import { type Kpack, startKpack } from "../../deploy/simulators/kpack/kpack.ts";
import { functions } from "../../functions/index.ts";
import { type Accounts, administrators, openAccounts } from "./accounts.ts";
import {
  type GatewayReplica,
  hookSecret,
  type Replica,
  startTestEnvironment,
  type TestEnvironment,
} from "./environment.ts";
import { createNamespace } from "./namespaces.ts";
import { isExisting, notStarted, type PaasObjects, paasObjects, platformNamespace } from "./paasobjects.ts";
import { clusterVariable } from "./platforms.ts";
import { openTestObjects, type TestObjects } from "./testobjects.ts";
import { startWorkers, type WorkerCount, type WorkersOptions } from "./workers.ts";

export { platformNamespace, registry, secrets } from "./paasobjects.ts";

/** For results that several functions bring about, one after the other. */
export const polling = { timeout: 90_000, interval: 100 };

const isPaas = ({ name }: { readonly name: string }): boolean => name.startsWith("modoki-");
/** The GitHub App functions maintain the tokens that the PaaS uses. */
const all = functions.filter((fn) => isPaas(fn) || ["clustergithubapp", "installation"].includes(fn.name));

/** The parts to start. */
export interface PaasOptions extends GitHubOptions {
  /** The number of gateways; none by default, and webhooks are then not delivered. */
  readonly gateways?: number;
  /** Two by default. */
  readonly workers?: WorkerCount;
  /**
   * The functions to run; by default all of the PaaS and none of GitHub Apps. `modoki-application` alone needs neither GitHub nor kpack.
   */
  readonly functions?: readonly string[];
  /** `granted` (the default) gives every process the generated rights. With `none`, all are administrators. */
  readonly rights?: "granted" | "none";
  /** Resources, such as `batch/cronjobs`, on which a test temporarily denies rights. */
  readonly lacking?: readonly string[];
  /** Additional environment of the bridge and the workers. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The environment, with helpers that write and read the functions' objects. */
export interface Paas extends Omit<TestObjects, "close">, PaasObjects {
  /** The default namespace of all objects: `default`, or in an existing cluster a namespace of this run. */
  readonly namespace: string;
  readonly environment: TestEnvironment;
  /** Throws when `modoki-application` is alone. */
  readonly github: SimulatedGitHub;
  /** Throws when `modoki-application` is alone, and in an existing cluster, whose kpack takes no orders. */
  readonly kpack: Kpack;
  readonly workers: readonly Replica[];
  readonly gateways: readonly GatewayReplica[];
  readonly bridge: Replica;
  readonly accounts: Accounts;
  stop(): Promise<void>;
}

/**
 * Starts everything, with the Secrets and a ClusterBuilder `default` that is ready. An existing cluster brings its own kpack, builder, and
 * nodes.
 */
export async function startPaas(options: PaasOptions = {}): Promise<Paas> {
  const ours = all.filter((fn) => options.functions?.includes(fn.name) ?? isPaas(fn));
  const builds = ours.some(({ name }) => name !== "modoki-application");
  const [started, github] = await Promise.all([
    startTestEnvironment(),
    builds ? startGitHubWith(options) : undefined,
  ]);
  const namespace = isExisting ? `paas-${randomUUID().slice(0, 8)}` : "default";
  const environment = environmentIn(started, namespace);
  const { client } = environment;
  const workers: Replica[] = [];
  const watched = isExisting ? [namespace, platformNamespace] : undefined;
  const objects = await openTestObjects(environment, ours, workers, {
    namespace,
    ...(watched && { watched }),
  });

  if (isExisting) await createNamespace(client, namespace);
  await ensureNamespace(environment, platformNamespace);
  const accounts =
    options.rights === "none"
      ? administrators(client)
      : await openAccounts(environment, ours, platformNamespace);
  await accounts.optIn(namespace);
  const kpack = isExisting || !builds ? undefined : await startKpack({ client, steps: "first and last" });
  await kpack?.builder("default", "ready");
  const names = ours.map(({ name }) => name);
  const bridge = await environment.bridge("bridge-1", {
    program: "functions",
    args: names,
    env: { DENREI_NAMESPACES: watched?.join(","), ...(await accounts.env("bridge")), ...options.env },
  });
  workers.push(...(await startWorkers(environment, accounts, workersOf(options, names, github))));
  const gateways = await startGateways(environment, accounts, options.gateways ?? 0);
  github?.deliverTo(gateways.map((gateway) => gateway.hookUrl()));

  const paas: Paas = {
    ...objects,
    ...paasObjects(client, objects, namespace, github),
    namespace,
    environment,
    workers,
    gateways,
    bridge,
    accounts,
    get github() {
      return required(github, "GitHub");
    },
    get kpack() {
      if (!isExisting) return required(kpack, "kpack");
      throw new Error(
        `this test needs the stand-in for kpack, but ${clusterVariable} names a cluster with its own kpack. Run it without the variable.`,
      );
    },
    async untilQuiet() {
      // A webhook that no gateway has accepted yet is on no stream.
      await github?.untilDelivered();
      await objects.untilQuiet();
    },
    async stop() {
      await objects.close();
      await kpack?.stop();
      if (isExisting) await client.delete(Namespace, { name: namespace }, {});
      try {
        await accounts.assertEnough(options.lacking);
      } finally {
        await environment.stop();
        await github?.stop();
      }
    },
  };
  if (builds) await Promise.all([paas.tokenSecret(), paas.registrySecret()]);
  return paas;
}

const startGitHubWith = (options: PaasOptions): Promise<SimulatedGitHub> =>
  startGitHub({
    repositories: ["acme/web", "acme/api"],
    ...options,
    apps: options.apps ?? [{ webhookSecret: hookSecret }],
  });

const workersOf = (
  { workers = 2, env }: PaasOptions,
  functions: readonly string[],
  github: SimulatedGitHub | undefined,
): WorkersOptions => ({
  functions,
  count: workers,
  env: {
    CONTROLLER_NAMESPACE: platformNamespace,
    ...(github && { [allowedUrlsVariable]: github.url }),
    ...env,
  },
});

async function startGateways(
  environment: TestEnvironment,
  accounts: Accounts,
  count: number,
): Promise<GatewayReplica[]> {
  const env = await accounts.env("gateway");
  return Promise.all(
    Array.from({ length: count }, (_, at) => environment.gateway(`gateway-${at + 1}`, { env })),
  );
}

/** Returns a part, or throws if it was not started for the chosen functions. */
function required<T>(part: T | undefined, name: string): T {
  if (part === undefined) throw notStarted(name);
  return part;
}

/** The same environment with another default namespace. */
const environmentIn = (environment: TestEnvironment, namespace: string): TestEnvironment => ({
  ...environment,
  until: (kind, at, ...more) => environment.until(kind, { ...within(kind, namespace), ...at }, ...more),
  untilGone: (kind, at, ...more) =>
    environment.untilGone(kind, { ...within(kind, namespace), ...at }, ...more),
  list: (kind, of = namespace) => environment.list(kind, of),
});

const within = ({ scope }: Kind, namespace: string) => (scope === "Namespaced" ? { namespace } : {});

async function ensureNamespace({ client }: TestEnvironment, name: string): Promise<void> {
  await createNamespace(client, name).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}
