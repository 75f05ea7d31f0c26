/** Opted-in namespaces: the cost of their watches for the bus and the bridge, and the time to take over all of them. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Kind, kindText, Secret } from "../../../bus/kube/kind.ts";
import type { KubeObject } from "../../../bus/kube/object.ts";
import { bridgeStream } from "../../../bus/subjects.ts";
import { type BridgeReplica, type OwnBridged, startOwnBridged } from "../../harness/bridged.ts";
import { withCleanup } from "../../harness/cleanup.ts";
import { concurrently } from "../../harness/concurrently.ts";
import { metricSum } from "../../harness/metrics.ts";
import { createNamespace, optIn } from "../../harness/namespaces.ts";
import { type Footprint, footprintOf } from "../footprint.ts";
import { profilerEnv } from "../profiler/profiler.ts";
import { figure } from "../table.ts";
import type { Measuring } from "./measuring.ts";
import { quietMillis } from "./settings.ts";

/** Concurrent calls. */
const callers = 16;
const deadlineMillis = 300_000;
const sampleMillis = 5000;
const kind = kindText(Secret);

/**
 * The environment opts in this namespace. Its Secret changes with the others: the API server may forget a position before its last
 * hundred changes, and the second bridge would list.
 */
const alsoOptedIn = "default";

/** The figures of one number of namespaces, with a Secret in each. */
export interface NamespacesRun {
  readonly namespaces: number;
  /** From the start of a bridge until it watches all of them. */
  readonly startSeconds: number;
  /** Of leases and positions, while idle. */
  readonly writesPerSecond: number;
  readonly memory: Footprint;
  /** From the first of a change in each until the last was published. */
  readonly changeSeconds: number;
  /** From the kill of the bridge until a second one watches all of them. */
  readonly takeoverSeconds: number;
  /** Lists by the second bridge. */
  readonly lists: number;
  /** Events of the Secrets: an add and two changes of each are expected. */
  readonly events: number;
}

/** The environment and the size. */
interface Setup {
  readonly measuring: Measuring;
  readonly bridged: OwnBridged;
  readonly spaces: readonly string[];
}

/** Measures each number of namespaces on a control plane of its own. Throws if an event is missing, or if the takeover lists. */
export async function measureNamespaces(
  sizes: readonly number[],
  { signal, say }: Omit<Measuring, "defer">,
): Promise<NamespacesRun[]> {
  const runs: NamespacesRun[] = [];
  for (const size of sizes) {
    say(`scale: ${figure(size)} namespaces`);
    const run = await withCleanup(signal, (defer) =>
      watchNamespaces(size, quietMillis, { signal, say, defer }),
    );
    if (run.events !== 3 * size || run.lists !== 0)
      throw new Error(
        `expected ${3 * size} events of ${size} Secrets and no list by the second bridge, found ${run.events} and ${run.lists}`,
      );
    runs.push(run);
  }
  return runs;
}

/** Watches this many namespaces on a control plane of its own, and counts writes for `countMillis`. */
export async function watchNamespaces(
  namespaces: number,
  countMillis: number,
  measuring: Measuring,
): Promise<NamespacesRun> {
  const bridged = await startOwnBridged();
  measuring.defer(() => bridged.stop());
  const { directory } = bridged.environment.platform;
  const spaces = Array.from({ length: namespaces }, (_, at) => `team-${String(at + 1).padStart(4, "0")}`);
  const setup = { measuring, bridged, spaces };
  await createSecret(bridged, alsoOptedIn);
  await concurrently(spaces, callers, async (namespace) => {
    await createNamespace(bridged.environment.client, namespace);
    await createSecret(bridged, namespace);
    await optIn(bridged.environment.client, namespace);
  });
  const env = { ...profilerEnv(directory), DENREI_LOG_LEVEL: "info" };
  const begun = performance.now();
  const bridge = await bridged.bridge("bridge-1", { env });
  await watched(setup, bridge);
  const startSeconds = (performance.now() - begun) / 1000;
  measuring.say(`all ${figure(namespaces)} namespaces are watched after ${figure(startSeconds)} s`);

  const writesPerSecond = await countWrites(setup, countMillis);
  const memory = await footprintOf(bridge, directory, sampleMillis, measuring.signal);
  measuring.say(`${figure(writesPerSecond)} writes per second, ${figure(memory.collected)} MB`);
  const changeSeconds = await changeEach(setup, "first");

  const second = await bridged.bridge("bridge-2", { env });
  const killed = performance.now();
  await bridge.kill();
  await watched(setup, second);
  const takeoverSeconds = (performance.now() - killed) / 1000;
  const lists = await metricSum([second], new RegExp(`^denrei_bridge_lists_total\\{kind="${kind}"`));
  await changeEach(setup, "second");
  const events = bridged.history.of(Secret).filter(({ at }) => at.namespace.startsWith("team-")).length;
  return {
    namespaces,
    startSeconds,
    writesPerSecond,
    memory,
    changeSeconds,
    takeoverSeconds,
    lists,
    events,
  };
}

const secretOf = (namespace: string) => ({ namespace, name: "token" });

const createSecret = ({ environment }: OwnBridged, namespace: string) =>
  environment.client.create(
    Secret,
    { apiVersion: "v1", kind: "Secret", metadata: secretOf(namespace) } as KubeObject,
    { fieldManager: "test" },
  );

/** Waits until the bridge leads all namespaces without a backlog. */
async function watched({ measuring, spaces }: Setup, bridge: BridgeReplica): Promise<void> {
  const sum = (metric: string) => metricSum([bridge], new RegExp(`^${metric}\\{kind="${kind}"`));
  let found = {};
  for (const until = performance.now() + deadlineMillis; performance.now() < until; ) {
    const [leading, behind] = await Promise.all([
      sum("denrei_bridge_leading"),
      sum("denrei_bridge_behind_seconds"),
    ]);
    // With `default`.
    if (leading === spaces.length + 1 && behind === 0) return;
    found = { leading, behind };
    await sleep(200, undefined, { signal: measuring.signal });
  }
  throw new Error(
    `expected ${spaces.length + 1} namespaces to be watched within ${deadlineMillis} ms, found ${JSON.stringify(found)}`,
  );
}

/** The writes of leases and positions per second. */
async function countWrites({ measuring, bridged }: Setup, millis: number): Promise<number> {
  const written = async () => (await bridged.bus.jsm.streams.info(bridgeStream)).state.last_seq;
  const before = await written();
  await sleep(millis, undefined, { signal: measuring.signal });
  return ((await written()) - before) / (millis / 1000);
}

/** Changes the Secret of every namespace, and of `default`; resolves with the seconds until the last change was published. */
async function changeEach(setup: Setup, value: string): Promise<number> {
  const { environment, history } = setup.bridged;
  const before = history.of(Secret as Kind).length;
  const begun = performance.now();
  await concurrently([...setup.spaces, alsoOptedIn], callers, (namespace) =>
    environment.client.mergePatch(
      Secret,
      secretOf(namespace),
      { metadata: { labels: { value } } },
      { fieldManager: "test" },
    ),
  );
  await history.until(() => history.of(Secret as Kind).length >= before + setup.spaces.length + 1);
  return (performance.now() - begun) / 1000;
}
