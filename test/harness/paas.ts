/** The PaaS on a real control plane: replicas, gateways, simulated nodes, the emulated GitHub, and the stand-in for kpack. */
import { randomUUID } from "node:crypto";
import { allowedUrlsVariable } from "../../bus/github/allowed.ts";
import { githubApp } from "../../bus/github/app.ts";
import { parsePrivateKey } from "../../bus/github/key.ts";
import { rateLimits } from "../../bus/github/limits.ts";
import { isAlreadyExists } from "../../bus/kube/errors.ts";
import { ConfigMap, type Kind, Namespace, Secret } from "../../bus/kube/kind.ts";
import { compareVersions, type Stored } from "../../bus/kube/object.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { poll } from "../../deploy/local/run/poll.ts";
import {
  type GitHubOptions,
  type SimulatedGitHub,
  startGitHub,
} from "../../deploy/simulators/github/github.ts";
import { type Kpack, startKpack } from "../../deploy/simulators/kpack/kpack.ts";
import { functions } from "../../functions/index.ts";
import { Application, AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { siteName } from "../../functions/paas/site/config.ts";
import { type Accounts, administrators, openAccounts } from "./accounts.ts";
import {
  type GatewayReplica,
  hookSecret,
  type Replica,
  startTestEnvironment,
  type TestEnvironment,
} from "./environment.ts";
import { createNamespace } from "./namespaces.ts";
import { clusterVariable } from "./platforms.ts";
import { openTestObjects, type TestObjects } from "./testobjects.ts";

/** The namespace that workers take for the platform's own. */
export const platformNamespace = "denrei";
/** Names of Secrets: with a GitHub token, and with registry credentials. */
export const secrets = { git: "acme-web", registry: "regcred" } as const;

const isExisting = Boolean(process.env[clusterVariable]);
/** Where images are pushed. In an existing cluster the push is real. */
export const registry = isExisting
  ? process.env.DENREI_TEST_REGISTRY || "127.0.0.1:46500"
  : "registry.example.com";
/** The builder in an existing cluster. */
const existingBuilder = {
  kind: "ClusterBuilder",
  name: process.env.DENREI_TEST_BUILDER || "default",
} as const;

const isPaas = ({ name }: { readonly name: string }): boolean => name.startsWith("modoki-");
/** The GitHub App functions maintain the tokens that the PaaS uses. */
const all = functions.filter((fn) => isPaas(fn) || ["clustergithubapp", "installation"].includes(fn.name));

/** The parts to start. */
export interface PaasOptions extends GitHubOptions {
  /** The number of gateways; none by default, and webhooks are then not delivered. */
  readonly gateways?: number;
  /** The number of workers that run all functions, two by default; or one worker per function with only its rights. */
  readonly workers?: number | "one each";
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
export interface Paas extends Omit<TestObjects, "close"> {
  /** The default namespace of all objects: `default`, or in an existing cluster a namespace of this run. */
  readonly namespace: string;
  readonly kit: TestEnvironment;
  /** Throws when `modoki-application` is alone. */
  readonly github: SimulatedGitHub;
  /** Throws when `modoki-application` is alone, and in an existing cluster, whose kpack takes no orders. */
  readonly kpack: Kpack;
  readonly workers: readonly Replica[];
  readonly gateways: readonly GatewayReplica[];
  readonly bridge: Replica;
  readonly accounts: Accounts;
  /** Creates the Secret {@link secrets}`.git`, as an Installation with the format basic-auth would. */
  tokenSecret(namespace?: string): Promise<void>;
  /** Creates the Secret {@link secrets}`.registry`. */
  registrySecret(namespace?: string): Promise<void>;
  /** Replaces settings and chart of the site. Objects that are created after it resolves use them. */
  site(data: Readonly<Record<string, string>>): Promise<void>;
  application(name: string, spec?: Partial<Application["spec"]>): Promise<Stored<Application>>;
  /** Creates a RemoteSync, by default of the branch `main` of acme/web, for the Application of the same name. */
  remoteSync(
    name: string,
    github?: Partial<RemoteSync["spec"]["base"]["github"]>,
    spec?: Partial<RemoteSync["spec"]>,
  ): Promise<Stored<RemoteSync>>;
  /** Creates a pipeline for acme/web. */
  pipeline(name: string, spec?: Partial<AppPipeline["spec"]>): Promise<Stored<AppPipeline>>;
  stop(): Promise<void>;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/**
 * Starts everything, with the Secrets and a ClusterBuilder `default` that is ready. An existing cluster brings its own kpack, builder, and
 * nodes.
 */
export async function startPaas(options: PaasOptions = {}): Promise<Paas> {
  const ours = all.filter((fn) => options.functions?.includes(fn.name) ?? isPaas(fn));
  const names = ours.map(({ name }) => name);
  const builds = names.some((name) => name !== "modoki-application");
  const [ground, github] = await Promise.all([
    startTestEnvironment(),
    builds
      ? startGitHub({
          repositories: ["acme/web", "acme/api"],
          ...options,
          apps: options.apps ?? [{ webhookSecret: hookSecret }],
        })
      : undefined,
  ]);
  const namespace = isExisting ? `paas-${randomUUID().slice(0, 8)}` : "default";
  const kit = kitIn(ground, namespace);
  const { client } = kit;
  const workers: Replica[] = [];
  const watched = isExisting ? [namespace, platformNamespace] : undefined;
  const world = await openTestObjects(kit, ours, workers, { namespace, ...(watched && { watched }) });
  const { create } = world;

  if (isExisting) await createNamespace(client, namespace);
  await ensureNamespace(kit, platformNamespace);
  const accounts =
    options.rights === "none" ? administrators(client) : await openAccounts(kit, ours, platformNamespace);
  await accounts.optIn(namespace);
  const kpack = isExisting || !builds ? undefined : await startKpack({ client, steps: "first and last" });
  await kpack?.builder("default", "ready");
  const bridge = await kit.bridge("bridge-1", {
    program: "functions",
    args: names,
    env: { DENREI_NAMESPACES: watched?.join(","), ...(await accounts.env("bridge")), ...options.env },
  });
  const { workers: wanted = 2 } = options;
  const groups =
    wanted === "one each" ? names.map((name) => [name]) : Array.from({ length: wanted }, () => names);
  workers.push(
    ...(await Promise.all(
      groups.map(async (group, at) => {
        const own = {
          CONTROLLER_NAMESPACE: platformNamespace,
          ...(github && { [allowedUrlsVariable]: github.url }),
          ...(await accounts.env(group)),
        };
        return kit.worker(`worker-${at + 1}`, group, { env: { ...own, ...options.env } });
      }),
    )),
  );
  const gatewayEnv = await accounts.env("gateway");
  const gateways = await Promise.all(
    Array.from({ length: options.gateways ?? 0 }, (_, at) =>
      kit.gateway(`gateway-${at + 1}`, { env: gatewayEnv }),
    ),
  );
  github?.deliverTo(gateways.map((gateway) => gateway.hookUrl()));
  const mintToken = github && tokensOf(github);

  const paas: Paas = {
    ...world,
    async untilQuiet() {
      // A webhook that no gateway has accepted yet is on no stream.
      await github?.untilDelivered();
      await world.untilQuiet();
    },
    namespace,
    kit,
    get github() {
      return there(github, "GitHub");
    },
    get kpack() {
      if (!isExisting) return there(kpack, "kpack");
      throw new Error(
        `this test needs the stand-in for kpack, but ${clusterVariable} names a cluster with its own kpack. Run it without the variable.`,
      );
    },
    workers,
    gateways,
    bridge,
    accounts,
    async tokenSecret(within = namespace) {
      const token = await there(mintToken, "GitHub")();
      await create(Secret, {
        metadata: { namespace: within, name: secrets.git, annotations: { "kpack.io/git": paas.github.url } },
        type: "kubernetes.io/basic-auth",
        data: { username: base64("x-access-token"), password: base64(token) },
      });
    },
    async registrySecret(within = namespace) {
      const auths = { [registry]: { auth: base64("user:password") } };
      await create(Secret, {
        metadata: { namespace: within, name: secrets.registry },
        type: "kubernetes.io/dockerconfigjson",
        data: { ".dockerconfigjson": base64(JSON.stringify({ auths })) },
      });
    },
    async site(data) {
      const at = { namespace: platformNamespace, name: siteName };
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata: at, data, spec: undefined };
      const { metadata } = await client.apply(ConfigMap, object, {
        fieldManager: "test",
        force: "take-ownership",
      });
      // The bridge may publish an object that is created next before it publishes this one.
      const store = objectStore(world.bus, "default");
      const isOnBus = async () => {
        const { resourceVersion = "0" } = (await store.entry(ConfigMap, at)) ?? {};
        if (compareVersions(resourceVersion, metadata.resourceVersion) < 0)
          throw new Error(`the bus has version ${resourceVersion}`);
      };
      await poll("the bus to have the site", isOnBus, { timeoutMillis: 60_000 });
    },
    application: (name, spec = {}) =>
      create(Application, {
        metadata: { namespace, name },
        spec: { domains: [`${name}.example.com`], ...spec },
      }),
    remoteSync: (name, base = {}, spec = {}) =>
      create(RemoteSync, {
        metadata: { namespace, name },
        spec: {
          applicationRef: { name },
          base: { github: { owner: "acme", repo: "web", secretName: secrets.git, ...base } },
          image: { name: `${registry}/acme/web`, secretName: secrets.registry },
          ...(isExisting && { builder: existingBuilder }),
          ...spec,
        },
      }),
    pipeline: (name, spec = {}) =>
      create(AppPipeline, {
        metadata: { namespace, name },
        spec: {
          domainBase: "*.preview.example.com",
          applicationTemplate: { spec: {} },
          base: { github: { owner: "acme", repo: "web", secretName: secrets.git } },
          image: { name: `${registry}/acme/web`, secretName: secrets.registry },
          ...spec,
        },
      }),
    async stop() {
      await world.close();
      await kpack?.stop();
      if (isExisting) await client.delete(Namespace, { name: namespace }, {});
      try {
        await accounts.assertEnough(options.lacking);
      } finally {
        await kit.stop();
        await github?.stop();
      }
    },
  };
  if (builds) await Promise.all([paas.tokenSecret(), paas.registrySecret()]);
  return paas;
}

/** Returns a part, or throws if it was not started for the chosen functions. */
function there<T>(part: T | undefined, name: string): T {
  if (part === undefined) throw new Error(`${name} is not started for these functions`);
  return part;
}

/** Mints tokens of the first App's first installation. */
function tokensOf({ url, apps: [app] }: SimulatedGitHub): () => Promise<string> {
  const installation = app?.installations[0];
  if (app === undefined || installation === undefined)
    throw new Error("the emulated GitHub has no installed App");
  const key = parsePrivateKey(app.privateKey);
  const asApp = githubApp({ url, allowed: [url], appId: app.id, key, limits: rateLimits() });
  return async () => (await asApp.mintToken(installation.id)).token;
}

/** The same kit with another default namespace. */
const kitIn = (kit: TestEnvironment, namespace: string): TestEnvironment => ({
  ...kit,
  until: (kind, at, ...more) => kit.until(kind, { ...within(kind, namespace), ...at }, ...more),
  untilGone: (kind, at, ...more) => kit.untilGone(kind, { ...within(kind, namespace), ...at }, ...more),
  list: (kind, of = namespace) => kit.list(kind, of),
});

const within = ({ scope }: Kind, namespace: string) => (scope === "Namespaced" ? { namespace } : {});

async function ensureNamespace({ client }: TestEnvironment, name: string): Promise<void> {
  await createNamespace(client, name).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}
