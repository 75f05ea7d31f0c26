/** The measurements of the scenario `many`: processes with no objects, with few, and with all of them. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { positionKey, positionSchema } from "../../../bus/bridge/position.ts";
import { functionStatus } from "../../../bus/inspect/status.ts";
import { kindText } from "../../../bus/kube/kind.ts";
import { type Bus, connectBus } from "../../../bus/nats/connect.ts";
import { bridgeBucket, consumers, streams } from "../../../bus/subjects.ts";
import { type ReconcileFunction, subscriptionOf } from "../../../bus/worker/function.ts";
import { Hikawa } from "../../../functions/zundoko/kinds.ts";
import { pidOf } from "../../bench/contender.ts";
import { deleteStreams } from "../../bench/environment.ts";
import { buildPeer, startGoReplica } from "../../bench/gopeer.ts";
import { idleRssOf, rssOf } from "../../bench/processes.ts";
import { profilerEnv } from "../../bench/profiler/profiler.ts";
import onlooker from "../../fixtures/functions/onlooker.ts";
import { type OwnTestEnvironment, type Replica, startOwnTestEnvironment } from "../../harness/environment.ts";
import { metricSum } from "../../harness/metrics.ts";
import { createCrowd, crowdCrds, deleteCrowd } from "../crowd.ts";
import { diskBytes } from "../disk.ts";
import { type Footprint, footprintOf } from "../footprint.ts";
import { figure, type Trial } from "../scenario.ts";

const cluster = "default";
const fixture = (name: string) => new URL(`../../fixtures/functions/${name}.ts`, import.meta.url).pathname;
/** Created and deleted before the first measurement, so that compiled code and grown buffers do not count as a cost of objects. */
const warmUp = { share: 0.25, least: 1000 };
const objects = { full: 100_000, least: 1000 };
/** Both sides are also measured with this share of the objects. */
const fewShare = 0.1;
const settleMillis = 600_000;
/** How long a process is sampled after a garbage collection. */
const sample = { full: 5000, least: 1000 };
/** The Go runtime collects at least every two minutes, and cannot be forced to from outside. */
const goSample = { full: 125_000, least: 1000 };

/** The environment of the scenario. */
interface Setup {
  readonly trial: Trial;
  readonly environment: OwnTestEnvironment;
  readonly bus: Bus;
}

/** The results. */
export interface Found {
  readonly size: number;
  /** Objects deleted before the first measurement. */
  readonly warm: number;
  readonly createdPerSecond: number;
  readonly empty: IdleUsage;
  readonly few: { readonly objects: number; readonly memory: Footprint };
  readonly full: IdleUsage;
  /** Undefined at the smallest size. */
  readonly census: { readonly seconds: number; readonly seen: number } | undefined;
  /** Undefined at the smallest size. */
  readonly restarts: Restarts | undefined;
  /** Resident memory of the Go operator by the number of objects, in MB. */
  readonly peer: { readonly fewMegabytes: number; readonly megabytes: number } | undefined;
}

/** Bridges started when all objects exist. */
interface Restarts {
  readonly resume: { readonly seconds: number; readonly objects: number; readonly memory: Footprint };
  /** Lists and publishes of the bridge that resumed. */
  readonly repeated: number;
  readonly list: { readonly seconds: number; readonly objects: number; readonly memory: Footprint };
}

/** Measures everything on a separate control plane. */
export async function measureMany(trial: Trial): Promise<Found> {
  if (trial.peer === "measure") await buildPeer(trial.signal);
  return measureAll(await open(trial));
}

async function measureAll(setup: Setup): Promise<Found> {
  const { trial, environment } = setup;
  const { signal, say } = trial;
  const size = trial.scaled(objects.full, objects.least);
  // The starts are measured only at larger sizes. Other tests show that they work.
  const isLeast = size === objects.least;
  const few = Math.round(size * fewShare);
  const warm = Math.max(warmUp.least, Math.round(size * warmUp.share));
  const bridge = await environment.bridge("bridge-1", bridging(environment, "onlooker"));
  const worker = await environment.worker("worker-1", [fixture("onlooker")], measured(environment));

  say(`warming up with ${figure(warm)} objects`);
  await createCrowd(environment.client, { prefix: "warm", first: 1, count: warm, signal });
  await settled(setup, warm);
  await deleteCrowd(environment.client, signal);
  await settled(setup, 0);
  const empty = await measureIdle(setup, bridge, worker);

  say(`creating ${figure(size)} objects`);
  const create = async (first: number, count: number): Promise<number> => {
    const begun = performance.now();
    await createCrowd(environment.client, { prefix: "many", first, count, signal });
    await settled(setup, first - 1 + count);
    return (performance.now() - begun) / 1000;
  };
  const fewSeconds = await create(1, few);
  const fewMemory = await footprint(setup, bridge);
  const fewMegabytes = await peerMegabytes(setup, "few");
  const seconds = fewSeconds + (await create(few + 1, size - few));
  say("all objects are published and processed");
  const full = await measureIdle(setup, bridge, worker);

  const census = isLeast ? undefined : await takeCensus(setup, size);
  const megabytes = await peerMegabytes(setup, "all");
  const restarts = isLeast ? undefined : await restart(setup, bridge, worker);
  return {
    size,
    warm,
    createdPerSecond: size / seconds,
    empty,
    few: { objects: few, memory: fewMemory },
    full,
    census,
    restarts,
    peer: fewMegabytes && megabytes ? { fewMegabytes, megabytes } : undefined,
  };
}

/** Replaces the bridge by one that resumes, and that by another with an empty bus. */
async function restart(setup: Setup, bridge: Replica, worker: Replica): Promise<Restarts> {
  const { bus, trial } = setup;
  const { say } = trial;
  await bridge.stop();
  const resume = await timedBridge(setup, "bridge-2", "leading");
  say(`a resumed bridge knows all objects after ${figure(resume.seconds)} s`);
  const repeated = await metricSum([resume.bridge], /^denrei_bridge_(lists|events)_total\{/);
  const resumeMemory = await footprint(setup, resume.bridge);
  await Promise.all([resume.bridge.stop(), worker.stop()]);

  await deleteStreams(bus);
  const list = await timedBridge(setup, "bridge-3", "listed");
  say(`a bridge with an empty bus has published all objects after ${figure(list.seconds)} s`);
  const listMemory = await footprint(setup, list.bridge);
  const { state } = await bus.jsm.streams.info(streams.objects);
  return {
    resume: { ...resume, memory: resumeMemory },
    repeated,
    list: { ...list, objects: state.messages, memory: listMemory },
  };
}

async function open(trial: Trial): Promise<Setup> {
  const environment = await startOwnTestEnvironment({ crds: crowdCrds() });
  trial.defer(() => environment.stop());
  const bus = await connectBus({ url: environment.platform.natsUrl, name: "prove" });
  trial.defer(() => bus.nc.close());
  return { trial, environment, bus };
}

/** A replica with a profiler. The debug level would log a line per object. */
const measured = ({ platform }: OwnTestEnvironment) => ({
  env: { ...profilerEnv(platform.directory), DENREI_LOG_LEVEL: "info" },
});

/** A bridge for these functions, which creates their streams. */
const bridging = (environment: OwnTestEnvironment, ...functions: readonly string[]) => ({
  ...measured(environment),
  args: functions.map(fixture),
});

/** Starts a bridge and waits for a log message about Hikawas. */
async function timedBridge(
  { environment }: Setup,
  name: string,
  msg: "leading" | "listed",
): Promise<{ readonly bridge: Replica; readonly seconds: number; readonly objects: number }> {
  const begun = performance.now();
  const bridge = await environment.bridge(name, bridging(environment, "onlooker"));
  const line = await bridge.log.until(
    (line) => line.includes(`"msg":"${msg}"`) && line.includes(`"kind":"${kindText(Hikawa)}"`),
    settleMillis,
  );
  const seconds = (performance.now() - begun) / 1000;
  return { bridge, seconds, objects: (JSON.parse(line) as { objects: number }).objects };
}

/** Waits until the bridge has published this many objects and the worker has processed each change. */
async function settled({ trial, bus }: Setup, objects: number): Promise<void> {
  const kv = await bus.kvm.open(bridgeBucket);
  let found: object = {};
  for (const until = performance.now() + settleMillis; performance.now() < until; ) {
    const [entry, router, queue] = await Promise.all([
      kv.get(positionKey(cluster, Hikawa)),
      bus.jsm.consumers.info(streams.objects, consumers.router(subscriptionOf(onlooker, cluster))),
      functionStatus(bus, onlooker as ReconcileFunction, cluster),
    ]);
    const known = entry?.operation === "PUT" ? positionSchema.parse(entry.json()).objects : 0;
    const toRoute = router.num_pending + router.num_ack_pending;
    found = { known, toRoute, ...queue };
    const { pending, inFlight, parked } = queue;
    if (known === objects && [toRoute, pending, inFlight, parked].every((count) => count === 0)) return;
    await sleep(200, undefined, { signal: trial.signal });
  }
  throw new Error(
    `expected ${objects} objects on the bus and no pending work, found ${JSON.stringify(found)} after ${settleMillis} ms`,
  );
}

const footprint = ({ trial, environment }: Setup, replica: Replica): Promise<Footprint> =>
  footprintOf(replica, environment.platform.directory, trial.scaled(sample.full, sample.least), trial.signal);

/** The memory and disk usage of all processes while idle. */
interface IdleUsage {
  readonly bridge: Footprint;
  readonly worker: Footprint;
  /** Resident memory, in MB. */
  readonly nats: number;
  /** In MB. */
  readonly disk: number;
  /** Bytes in OBJECTS. */
  readonly stored: number;
}

async function measureIdle(setup: Setup, bridge: Replica, worker: Replica): Promise<IdleUsage> {
  const { environment, bus } = setup;
  const footprints = await Promise.all([bridge, worker].map((replica) => footprint(setup, replica)));
  const { state } = await bus.jsm.streams.info(streams.objects);
  return {
    bridge: footprints[0] as Footprint,
    worker: footprints[1] as Footprint,
    nats: rssOf(new Map([["nats", pidOf(environment.platform.nats)]])).get("nats") ?? Number.NaN,
    disk: (await diskBytes(join(environment.platform.directory, "nats"))) / 1e6,
    stored: state.bytes,
  };
}

/** A function that is new to the bus: from the start of its process until it has seen every object. */
async function takeCensus(
  { environment, trial }: Setup,
  size: number,
): Promise<{ readonly seconds: number; readonly seen: number }> {
  // The new function's bridge stays on standby after it has created the streams.
  const standby = await environment.bridge("bridge-new", bridging(environment, "onlooker", "census"));
  const begun = performance.now();
  const worker = await environment.worker("census-1", [fixture("census")], {
    env: { DENREI_LOG_LEVEL: "info", DENREI_TEST_CENSUS: String(size) },
  });
  const line = await worker.log.until((line) => line.includes('"msg":"census complete"'), settleMillis);
  const seconds = (performance.now() - begun) / 1000;
  await Promise.all([worker.stop(), standby.stop()]);
  trial.say(`a new function has seen all objects after ${figure(seconds)} s`);
  return { seconds, seen: (JSON.parse(line) as { seen: number }).seen };
}

/** The Go operator, started when the objects exist: the minimum of its resident memory while idle. */
async function peerMegabytes({ trial, environment }: Setup, label: string): Promise<number | undefined> {
  if (trial.peer === "omit") return undefined;
  const peer = await startGoReplica(environment.platform, `go-${label}`, "alone");
  await peer.leads();
  const millis = trial.scaled(goSample.full, goSample.least);
  trial.say(`watching the memory of the Go operator for ${figure(millis / 1000)} s`);
  const least = await idleRssOf(new Map([["go", pidOf(peer)]]), { millis, signal: trial.signal });
  await peer.stop();
  return least.get("go");
}
