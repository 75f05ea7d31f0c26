/** Starts a cluster, a bus, and functions for tests of functions: real parts, discarded at the end. */
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { connectBus } from "denrei/bus";
import type { Stored } from "denrei/kinds";
import { connectCluster } from "denrei/kubernetes";
import { subscriptionsOf } from "denrei/runtime";
import { admissionOf, installHooks, startWebhook } from "./admission.ts";
import { openCases } from "./cases.ts";
import { crdsOf } from "./crds.ts";
import { openKetEnvironment } from "./environment.ts";
import { loadFunctions } from "./functions.ts";
import { keyState, listedKeyState } from "./keystate.ts";
import { expectOptionsOf } from "./kindoptions.ts";
import { openKubectl } from "./kubectl.ts";
import type { Named } from "./manifest.ts";
import { makeNamespace } from "./namespace.ts";
import type { Ket, KetOptions, KindCluster } from "./options.ts";
import { startProcesses } from "./processes.ts";
import { prepareRights } from "./rights.ts";
import { onInterruption } from "./signals.ts";
import { disposingOnError } from "./starting.ts";
import { openWait } from "./waiting.ts";

/** The default cluster name of processes. */
const cluster = "default";
const defaultDeadline = 60_000;

/**
 * Starts everything. Neither a failed start nor a signal to this process leaves a process or a folder behind.
 *
 * @example
 * ```ts
 * const ket = await startKet({ functions: [new URL("greeting.ts", import.meta.url)], fixtures: new URL("cases", import.meta.url) });
 * afterAll(() => ket.stop());
 * test("a greeting is written", () => ket.apply("greeting"));
 * ```
 */
export const startKet = (options: KetOptions = {}): Promise<Ket> =>
  disposingOnError((starting) => start(options, starting));

async function start(options: KetOptions, starting: AsyncDisposableStack): Promise<Ket> {
  const functions = await loadFunctions(options.functions ?? []);
  expectOptionsOf(options);
  const admission = await admissionOf(options, functions);
  const crds = await crdsOf(options.crds, functions, admission?.webhook);
  const { deadlineMillis = defaultDeadline } = options;
  const namespace = options.namespace ?? `ket-${randomBytes(4).toString("hex")}`;
  const subscriptions = subscriptionsOf(functions, cluster);
  const environment = await openKetEnvironment({ options, functions, subscriptions, crds });
  starting.defer(environment.stop);
  if (admission && environment.platform)
    starting.defer(await startWebhook(admission, environment.platform.directory));
  const client = await connectCluster({ path: environment.kubeconfigPath });
  starting.defer(() => client.connection.close());
  if (admission) await installHooks(client, admission);
  const address = environment.deployed?.bus ?? { url: environment.platform?.natsUrl ?? "" };
  const bus = await connectBus({ ...address, name: "ket" });
  starting.defer(() => bus.nc.close());
  const isOwned = await makeNamespace(client, namespace);
  const { platform, deployed, kind, owned } = environment;
  const rights = prepareRights({ client, functions, owned, namespace, rights: options.rights });
  // After the deletion of the run's objects, for which functions still need their rights.
  starting.defer(rights.remove);
  const leftovers = new Leftovers();
  const propagation = options.controllerManager === "omit" ? "Background" : "Foreground";
  const kubectl = openKubectl({ client, namespace, deadlineMillis, propagation }, leftovers);
  const simulators = starting.use(new AsyncDisposableStack());
  if (owned === "part") {
    starting.defer(async () => {
      const created = isOwned ? [{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }] : [];
      await kubectl.delete(...created, ...leftovers.all());
    });
  }
  const { workers, github } = platform
    ? await startProcesses({
        environment: { ...environment, platform },
        options,
        namespace,
        functions,
        rights: await rights.grant(),
        simulators,
      })
    : { workers: [], github: undefined };
  const { stop, stopped } = stopOnce(starting.move());

  const log = deployed?.log ?? (async () => workers.flatMap((worker) => worker.log.all));
  const sources = { client, bus, functions, queue: deployed ? listedKeyState : keyState, log };
  const waits = { client, kubectl, namespace, sources, deadlineMillis, stopped };
  const waitFor = openWait(waits);
  return {
    namespace,
    kubeconfigPath: environment.kubeconfigPath,
    client,
    kubectl,
    nats: Object.assign(Object.create(bus) as typeof bus, { url: address.url }),
    github,
    workers,
    kind: kind && inNamespace(kind, namespace),
    apply: openCases({ ...waits, folder: folderOf(options) }),
    waitFor: async (ref, condition, millis) => (await waitFor(ref, condition, millis)) as Stored<never>,
    async waitUntilGone(ref, millis) {
      await waitFor(ref, { $absent: true }, millis);
    },
    list: async (kind, within = namespace) =>
      (await client.list(kind, kind.scope === "Cluster" ? undefined : within)).items,
    stop,
  };
}

/** Applied objects that are not deleted yet. */
class Leftovers {
  readonly #named = new Map<string, Named>();

  add(named: Named): void {
    this.#named.set(idOf(named), named);
  }

  gone(named: Named): void {
    this.#named.delete(idOf(named));
  }

  all(): readonly Named[] {
    return [...this.#named.values()];
  }
}

const idOf = ({ apiVersion, kind, metadata }: Named): string =>
  [apiVersion, kind, metadata.namespace, metadata.name].join(" ");

/** Closes the run once, at the latest on a signal to this process. `stopped` aborts before it closes. */
function stopOnce(closing: AsyncDisposableStack): {
  readonly stop: () => Promise<void>;
  readonly stopped: AbortSignal;
} {
  const over = new AbortController();
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    over.abort(new Error("the run was stopped"));
    stopping ??= closing.disposeAsync();
    return stopping;
  };
  closing.defer(onInterruption(stop));
  return { stop, stopped: over.signal };
}

/** Forwards ports of the run's namespace, unless another one is given. */
const inNamespace = (kind: KindCluster, namespace: string): KindCluster => ({
  ...kind,
  forward: (target) => kind.forward({ ...target, namespace: target.namespace ?? namespace }),
});

const folderOf = ({ fixtures }: KetOptions): string | undefined =>
  fixtures instanceof URL ? fileURLToPath(fixtures) : fixtures;
