/** A thousand opted-in namespaces: the cost of their watches for the bus and the bridge, and the time to take over all of them. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Kind, kindText, Secret } from "../../../bus/kube/kind.ts";
import type { KubeObject } from "../../../bus/kube/object.ts";
import { bridgeStream } from "../../../bus/subjects.ts";
import { profilerEnv } from "../../bench/profiler/profiler.ts";
import { type BridgeReplica, type OwnBridged, startOwnBridged } from "../../harness/bridged.ts";
import { concurrently } from "../../harness/concurrently.ts";
import { metricSum } from "../../harness/metrics.ts";
import { createNamespace, optIn } from "../../harness/namespaces.ts";
import { footprintOf } from "../footprint.ts";
import { bounded, figure, type Scenario, type Trial } from "../scenario.ts";

const limits = { writesPerSecond: 50, megabytes: 250 };
const leastSize = 20;
/** Concurrent calls. */
const callers = 16;
/** A watch lasts a minute, and its bookmarks move the position. Milliseconds. */
const quietMillis = 120_000;
const deadlineMillis = 300_000;
const kind = kindText(Secret);

/** The environment and the size. */
interface Setup {
  readonly trial: Trial;
  readonly bridged: OwnBridged;
  readonly spaces: readonly string[];
}

export const namespaces: Scenario = {
  number: 14,
  name: "namespaces",
  title:
    "A thousand opted-in namespaces with a Secret watch each: writes and memory while idle, a change in each, and a takeover by a second bridge.",
  promise: "1,000 watched namespaces need at most 250 MB and 50 idle writes per s",
  fullMinutes: 6,
  tested: "nightly",
  async run(trial) {
    const size = trial.scaled(1000, leastSize);
    const bridged = await startOwnBridged();
    trial.defer(() => bridged.stop());
    const spaces = Array.from({ length: size }, (_, at) => `team-${String(at + 1).padStart(4, "0")}`);
    const setup = { trial, bridged, spaces };
    await concurrently(spaces, callers, async (namespace) => {
      await createNamespace(bridged.environment.client, namespace);
      await createSecret(bridged, namespace);
      await optIn(bridged.environment.client, namespace);
    });
    const env = { ...profilerEnv(bridged.environment.platform.directory), DENREI_LOG_LEVEL: "info" };
    const begun = performance.now();
    const bridge = await bridged.bridge("bridge-1", { env });
    await watched(setup, bridge);
    const startSeconds = (performance.now() - begun) / 1000;
    trial.say(`all ${figure(size)} namespaces are watched after ${figure(startSeconds)} s`);

    const writes = await writesPerSecond(setup, trial.scaled(quietMillis, 3000));
    const memory = await footprintOf(bridge, bridged.environment.platform.directory, 5000, trial.signal);
    trial.say(`${figure(writes)} writes per second, ${figure(memory.collected)} MB`);
    const changeSeconds = await changeEach(setup, "first");

    const second = await bridged.bridge("bridge-2", { env });
    const killed = performance.now();
    await bridge.kill();
    await watched(setup, second);
    const takeoverSeconds = (performance.now() - killed) / 1000;
    const repeated = await metricSum([second], new RegExp(`^denrei_bridge_lists_total\\{kind="${kind}"`));
    await changeEach(setup, "second");
    const events = bridged.history.of(Secret).filter(({ at }) => at.namespace.startsWith("team-"));
    return {
      injected: [`${figure(size)} opted-in namespaces with a Secret each`, "kill -9 of the leading bridge"],
      checks: [
        bounded("bus writes while idle", writes, "<=", limits.writesPerSecond, "per s"),
        bounded("bridge memory, garbage collected", memory.collected, "<=", limits.megabytes, "MB"),
        bounded("Secret events: an add and two changes each", events.length, "=", 3 * size, ""),
        bounded("lists by the second bridge", repeated, "=", 0, ""),
      ],
      figures: [
        {
          what: "bridge memory before collection, and peak",
          found: `${figure(memory.uncollected)} and ${figure(memory.peak)} MB`,
        },
        { what: "bridge start to all watched", found: `${figure(startSeconds)} s` },
        { what: "kill to all watched by the second bridge", found: `${figure(takeoverSeconds)} s` },
        { what: "a change in each, to the last publish", found: `${figure(changeSeconds)} s` },
      ],
    };
  },
};

const secretOf = (namespace: string) => ({ namespace, name: "token" });

const createSecret = ({ environment }: OwnBridged, namespace: string) =>
  environment.client.create(
    Secret,
    { apiVersion: "v1", kind: "Secret", metadata: secretOf(namespace) } as KubeObject,
    { fieldManager: "test" },
  );

/** Waits until the bridge leads all namespaces without a backlog. */
async function watched({ trial, spaces }: Setup, bridge: BridgeReplica): Promise<void> {
  const sum = (metric: string) => metricSum([bridge], new RegExp(`^${metric}\\{kind="${kind}"`));
  let found = {};
  for (const until = performance.now() + deadlineMillis; performance.now() < until; ) {
    const [leading, behind] = await Promise.all([
      sum("denrei_bridge_leading"),
      sum("denrei_bridge_behind_seconds"),
    ]);
    // `default` is opted in as well.
    if (leading === spaces.length + 1 && behind === 0) return;
    found = { leading, behind };
    await sleep(200, undefined, { signal: trial.signal });
  }
  throw new Error(
    `expected ${spaces.length + 1} namespaces to be watched within ${deadlineMillis} ms, found ${JSON.stringify(found)}`,
  );
}

/** The number of writes of leases and positions. */
async function writesPerSecond({ trial, bridged }: Setup, millis: number): Promise<number> {
  const written = async () => (await bridged.bus.jsm.streams.info(bridgeStream)).state.last_seq;
  const before = await written();
  await sleep(millis, undefined, { signal: trial.signal });
  return ((await written()) - before) / (millis / 1000);
}

/** Changes the Secret of every namespace; resolves with the seconds until the last change was published. */
async function changeEach(setup: Setup, value: string): Promise<number> {
  const { environment, history } = setup.bridged;
  const before = history.of(Secret as Kind).length;
  const begun = performance.now();
  await concurrently(setup.spaces, callers, (namespace) =>
    environment.client.mergePatch(
      Secret,
      secretOf(namespace),
      { metadata: { labels: { value } } },
      { fieldManager: "test" },
    ),
  );
  await history.until(() => history.of(Secret as Kind).length >= before + setup.spaces.length);
  return (performance.now() - begun) / 1000;
}
