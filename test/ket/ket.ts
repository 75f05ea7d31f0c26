/** Starts a cluster, a bus, and functions for tests of functions: real parts, discarded at the end. */
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { connectBus } from "../../bus/nats/connect.ts";
import { connectCluster } from "../../bus/process/cluster.ts";
import { interestsOf } from "../../bus/worker/function.ts";
import { openCases } from "./cases.ts";
import { crdsOf } from "./crds.ts";
import { openKetEnvironment } from "./environment.ts";
import { loadFunctions } from "./functions.ts";
import { keyState, listedKeyState } from "./keystate.ts";
import { openKubectl } from "./kubectl.ts";
import type { Named } from "./manifest.ts";
import { makeNamespace } from "./namespace.ts";
import type { Ket, KetOptions, KindCluster, Ref } from "./options.ts";
import { startProcesses } from "./processes.ts";
import { describe } from "./report.ts";
import { onInterruption } from "./signals.ts";
import { type Wanted, watched } from "./watching.ts";

/** The default cluster name of processes. */
const cluster = "default";
const defaultDeadline = 60_000;

/**
 * Starts everything. Neither a failed start nor a signal to this process leaves a process or a folder behind.
 *
 * @example
 * const ket = await startKet({ functions: [new URL("greeting.ts", import.meta.url)], fixtures: new URL("cases", import.meta.url) });
 * afterAll(() => ket.stop());
 * test("a greeting is written", () => ket.apply("greeting"));
 */
export async function startKet(options: KetOptions = {}): Promise<Ket> {
  const functions = await loadFunctions(options.functions ?? []);
  const crds = await crdsOf(options.crds, functions);
  const { deadlineMillis = defaultDeadline } = options;
  const namespace = options.namespace ?? `ket-${randomBytes(4).toString("hex")}`;
  // Closed in reverse order.
  await using starting = new AsyncDisposableStack();
  const interests = interestsOf(functions, cluster);
  const ground = await openKetEnvironment({ options, functions, interests, crds });
  starting.defer(ground.stop);
  const client = await connectCluster({ path: ground.kubeconfigPath });
  starting.defer(() => client.connection.close());
  const address = ground.deployed?.bus ?? { url: ground.platform?.natsUrl ?? "" };
  const bus = await connectBus({ ...address, name: "ket" });
  starting.defer(() => bus.nc.close());
  const isOwned = await makeNamespace(client, namespace);
  const leftovers = new Map<string, Named>();
  const id = ({ apiVersion, kind, metadata }: Named) =>
    [apiVersion, kind, metadata.namespace, metadata.name].join(" ");
  const propagation = options.controllerManager === "omit" ? "Background" : "Foreground";
  const kubectl = openKubectl(
    { client, namespace, deadlineMillis, propagation },
    { add: (named) => leftovers.set(id(named), named), gone: (named) => leftovers.delete(id(named)) },
  );
  const played = starting.use(new AsyncDisposableStack());
  if (ground.owned === "part") {
    starting.defer(async () => {
      const made = isOwned ? [{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }] : [];
      await kubectl.delete(...made, ...leftovers.values());
    });
  }
  const { platform } = ground;
  const { workers, github } = platform
    ? await startProcesses({ ground: { ...ground, platform }, options, namespace, functions, played })
    : { workers: [], github: undefined };
  const closing = starting.move();
  const over = new AbortController();
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    over.abort(new Error("the run was stopped"));
    stopping ??= closing.disposeAsync();
    return stopping;
  };
  closing.defer(onInterruption(stop));

  const wantedOf = async <T extends KubeObject>({
    name,
    ...ref
  }: Ref<T>): Promise<Omit<Wanted, "expected">> => {
    const kind = "apiVersion" in ref ? await kubectl.kindOf(ref.apiVersion, ref.kind) : (ref.kind as Kind);
    return {
      kind,
      at: kind.scope === "Cluster" ? { name } : { namespace: ref.namespace ?? namespace, name },
    };
  };
  const log = ground.deployed?.log ?? (async () => workers.flatMap((worker) => worker.log.all));
  const queue = ground.deployed ? listedKeyState : keyState;
  const witnesses = { client, bus, functions, queue, log };
  const within = (millis: number) => AbortSignal.any([AbortSignal.timeout(millis), over.signal]);

  async function waitFor<T extends KubeObject>(
    ref: Ref<T>,
    expected: Wanted["expected"],
    millis = deadlineMillis,
  ): Promise<Stored<T> | undefined> {
    const wanted = { ...(await wantedOf(ref)), expected };
    const [seen] = await watched(client, [wanted], within(millis));
    over.signal.throwIfAborted();
    if (seen?.differences.length === 0) return seen.object as Stored<T> | undefined;
    throw new Error(
      `${wanted.kind.kind} ${wanted.at.name} did not become as expected within ${millis} ms:\n` +
        `  ${seen?.differences.join("\n  ")}\n${await describe(witnesses, wanted)}`,
    );
  }

  return {
    namespace,
    kubeconfigPath: ground.kubeconfigPath,
    client,
    kubectl,
    nats: Object.assign(Object.create(bus) as typeof bus, { url: address.url }),
    github,
    workers,
    kind: ground.kind && inNamespace(ground.kind, namespace),
    apply: openCases({
      kubectl,
      client,
      namespace,
      witnesses,
      within,
      deadlineMillis,
      folder: folderOf(options),
    }),
    waitFor: async (ref, condition, millis) => (await waitFor(ref, condition, millis)) as Stored<never>,
    async waitUntilGone(ref, millis) {
      await waitFor(ref, { $absent: true }, millis);
    },
    list: async (kind, within = namespace) =>
      (await client.list(kind, kind.scope === "Cluster" ? undefined : within)).items,
    stop,
  };
}

/** Forwards ports of the run's namespace, unless another one is given. */
const inNamespace = (kind: KindCluster, namespace: string): KindCluster => ({
  ...kind,
  forward: (target) => kind.forward({ ...target, namespace: target.namespace ?? namespace }),
});

const folderOf = ({ fixtures }: KetOptions): string | undefined =>
  fixtures instanceof URL ? fileURLToPath(fixtures) : fixtures;
