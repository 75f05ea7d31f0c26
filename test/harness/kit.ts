/**
 * A cluster, a bus and replicas for one test file: real parts, thrown away at the end. Files that run side by side
 * never meet, unless they are told to use an existing cluster ({@link clusterVariable}).
 */
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type KubeClient, type ObjectName, resourcePath } from "../../bus/kube/client.ts";
import { isNotFound } from "../../bus/kube/errors.ts";
import { installCrds } from "../../bus/kube/install.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { connectCluster } from "../../bus/process/cluster.ts";
import { crdManifests } from "../../deploy/generate/crds.ts";
import type { Child, LocalNats, LocalPlatform } from "../../deploy/local/index.ts";
import { functions } from "../../functions/index.ts";
import { compiledBefore } from "./compiled.ts";
import { type GroundOptions, ground, type KitPlatform, localGround, type Origin } from "./ground.ts";
import { Lines } from "./lines.ts";

/** A replica and what it logs. */
export interface Replica extends Child {
  readonly log: Lines;
  /** What the probes of its present life answer: `/readyz`, say. */
  probe(path: string): Promise<{ readonly status: number; readonly text: string }>;
  /** `SIGKILL`, without waiting for anything. */
  kill(): Promise<void>;
}

/** A gateway, and where its hook is. */
export interface GatewayReplica extends Replica {
  /** Of its present life. */
  hookUrl(): string;
}

/** The secret of the hook that gateways of tests serve. */
export const hookSecret = "it is a secret to everybody";

/** How to start replicas. */
export interface ReplicaOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly args?: readonly string[];
  /** What to wait for: that it is ready, or only that its probes are served. */
  readonly until?: "ready" | "serving";
  /** The folder of another version of the program: `otherVersion` makes one. */
  readonly sources?: string | undefined;
}

/** How to start. */
export interface KitOptions extends GroundOptions {
  /** The CRDs to install; those of every shipped function unless given. */
  readonly crds?: readonly Record<string, unknown>[];
}

/** A kit for tests that do something to the control plane. */
export type LocalKit = Kit<LocalPlatform>;

/** Everything a test needs. */
export interface Kit<Platform extends KitPlatform = KitPlatform> {
  /** Whose the cluster is: one that exists has a past, and other users. */
  readonly origin: Origin;
  /** etcd, the API server and so on are in a {@link LocalKit} alone. */
  readonly platform: Platform;
  readonly client: KubeClient;
  /**
   * A worker of the real command line; `functions` are names, or paths of modules under `test/fixtures` that are called
   * as their function. Like the bridge it is the user of its role on the bus. It waits for a bridge with its functions.
   */
  worker(name: string, functions: readonly string[], options?: ReplicaOptions): Promise<Replica>;
  bridge(name: string, options?: ReplicaOptions): Promise<Replica>;
  /** A gateway of the real command line, with the secret {@link hookSecret} for the hook `app`, on a port of its own. */
  gateway(name: string, options?: ReplicaOptions): Promise<GatewayReplica>;
  /** Resolves when the object satisfies the condition; rejects with the object as it is when `signal` aborts. */
  until<T extends KubeObject>(
    kind: Kind<T>,
    at: ObjectName,
    condition: (object: Stored<T>) => boolean,
    deadlineMillis?: number,
  ): Promise<Stored<T>>;
  /** Resolves when there is no such object. */
  untilGone(kind: Kind, at: ObjectName, deadlineMillis?: number): Promise<void>;
  list<T extends KubeObject>(kind: Kind<T>, namespace?: string): Promise<Stored<T>[]>;
  /** Stops everything that the kit has started; an existing cluster is left as it is. */
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const fixtureProgram = fileURLToPath(new URL("../fixtures/replica.ts", import.meta.url));
const defaultDeadline = 60_000;

/** Starts a replica: arguments are those of `denrei`, or a role and paths of modules with functions. */
export async function startReplica(
  platform: LocalNats,
  name: string,
  args: readonly string[],
  { env, until = "ready", sources = root }: ReplicaOptions,
): Promise<Replica> {
  const program = join(sources, "deploy/cli/denrei.js");
  const log = new Lines();
  // Where the log of the present life begins: what an earlier one said does not count.
  let life = 0;
  const child = await platform.spawn({
    name,
    command: process.execPath,
    args: [args.some((arg) => arg.endsWith(".ts")) ? fixtureProgram : program, ...args],
    env: {
      NATS_URL: platform.natsUrl,
      DENREI_REPLICA: name,
      DENREI_LOG_LEVEL: "debug",
      NODE_NO_WARNINGS: "1",
      VITEST: undefined,
      ...compiledBefore,
      ...env,
    },
    onLine: (line) => log.push(line),
    ready: () => {
      const wanted = until === "ready" ? /"msg":"(bridge|worker|gateway) ready"/ : /"msg":"starting"/;
      return log.until((line) => wanted.test(line), defaultDeadline, life);
    },
    readyMillis: defaultDeadline,
    graceMillis: 12_000,
  });
  return Object.assign(Object.create(child) as Child, {
    log,
    async probe(path: string) {
      const records = log.records().filter(({ msg }) => msg === "starting");
      const answer = await fetch(`${records.at(-1)?.probes}${path}`);
      return { status: answer.status, text: (await answer.text()).trim() };
    },
    kill: () => child.stop("SIGKILL"),
    start(signal?: AbortSignal) {
      life = log.all.length;
      return child.start(signal);
    },
  });
}

/** Starts a platform, or a bus beside an existing cluster, and installs CRDs. */
export async function startKit(options: KitOptions = {}): Promise<Kit> {
  const { origin, platform } = await ground(withCrds(options));
  return kitOn(origin, platform, options);
}

/** Starts a platform in any case and installs CRDs. Throws when the tests are told to use an existing cluster. */
export async function startLocalKit(options: KitOptions = {}): Promise<LocalKit> {
  return kitOn("local", await localGround(withCrds(options)), options);
}

const install = (client: KubeClient, { crds = crdManifests(functions) }: KitOptions): Promise<void> =>
  installCrds(client, crds, { fieldManager: "test", signal: AbortSignal.timeout(defaultDeadline) });

/** Installs CRDs before controllers start: what these come to know later goes without garbage collection for a while. */
const withCrds = (options: KitOptions): GroundOptions => ({
  ...options,
  async prepare(path) {
    const client = await connectCluster({ path });
    try {
      await install(client, options);
    } finally {
      await client.connection.close();
    }
  },
});

async function kitOn<Platform extends KitPlatform>(
  origin: Origin,
  platform: Platform,
  options: KitOptions,
): Promise<Kit<Platform>> {
  let client: KubeClient | undefined;
  try {
    client = await connectCluster({ path: platform.kubeconfigPath });
    // A platform of one's own has them already.
    if (origin === "existing") await install(client, options);
    return kitWith(origin, platform, client);
  } catch (error) {
    await platform.stop();
    await client?.connection.close();
    throw error;
  }
}

function kitWith<Platform extends KitPlatform>(
  origin: Origin,
  platform: Platform,
  client: KubeClient,
): Kit<Platform> {
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
    async gateway(name, more = {}) {
      const folder = join(platform.directory, "webhooks");
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "app"), `${hookSecret}\n`);
      const env = { DENREI_WEBHOOK_SECRETS: folder, DENREI_WEBHOOK_ADDRESS: "127.0.0.1:0", ...more.env };
      const gateway = await replica(name, "gateway", ["gateway", ...(more.args ?? [])], { ...more, env });
      return Object.assign(Object.create(gateway) as Replica, {
        hookUrl() {
          const ready = gateway.log.all.findLast((line) => line.includes('"gateway ready"'));
          return `${JSON.parse(ready ?? "{}").url}/app`;
        },
      });
    },
    async until(kind, at, condition, deadlineMillis = defaultDeadline) {
      let last: Stored | undefined;
      for await (const object of changesOf(client, kind, at, deadlineMillis)) {
        last = object;
        if (object !== undefined && condition(object)) return object;
      }
      throw new Error(
        `${kind.kind} ${at.name} did not become as expected within ${deadlineMillis} ms: ${condition.toString()}; it is ${JSON.stringify(last, null, 2)}`,
      );
    },
    async untilGone(kind, at, deadlineMillis = defaultDeadline) {
      for await (const object of changesOf(client, kind, at, deadlineMillis))
        if (object === undefined) return;
      throw new Error(`${kind.kind} ${at.name} still exists after ${deadlineMillis} ms`);
    },
    list: async (kind, namespace = "default") => (await client.list(kind, namespace)).items,
    async stop() {
      await platform.stop();
      await client.connection.close();
    },
  };
}

/** The role of a function by its name, or its module's; of several, the one that may run them all. */
function roleOf(fns: readonly string[]): string {
  const [fn = "", ...more] = fns;
  return more.length > 0 ? "worker" : basename(fn, ".ts");
}

/** The object now and after each change, undefined while it does not exist; ends at the deadline. */
async function* changesOf<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  at: ObjectName,
  deadlineMillis: number,
): AsyncGenerator<Stored<T> | undefined> {
  const signal = AbortSignal.timeout(deadlineMillis);
  while (!signal.aborted) {
    try {
      const query = { fieldSelector: `metadata.name=${at.name}` };
      const namespace = at.namespace ?? (kind.scope === "Namespaced" ? "default" : undefined);
      const { items, metadata } = await client.list(kind, namespace, query, signal);
      yield items[0];
      const path = resourcePath(kind, namespace);
      const watch = { ...query, resourceVersion: metadata.resourceVersion };
      for await (const { type, object } of await client.watch<T>({ path, query: watch, signal })) {
        if (type !== "BOOKMARK") yield type === "DELETED" ? undefined : object;
      }
    } catch (error) {
      // An API server that a test has killed comes back.
      if (!signal.aborted && !isNotFound(error)) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
