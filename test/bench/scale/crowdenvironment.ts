/** Bridge, worker, and bus with a crowd of idle objects, on a control plane of its own. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { positionKey, positionSchema } from "../../../bus/bridge/position.ts";
import { functionStatus } from "../../../bus/inspect/status.ts";
import { kindText } from "../../../bus/kube/kind.ts";
import { type Bus, connectBus } from "../../../bus/nats/connect.ts";
import { bridgeBucket, consumers, streams } from "../../../bus/subjects.ts";
import { type ReconcileFunction, subscriptionOf } from "../../../bus/worker/function.ts";
import { Hikawa } from "../../../functions/zundoko/kinds.ts";
import onlooker from "../../fixtures/functions/onlooker.ts";
import { type OwnTestEnvironment, type Replica, startOwnTestEnvironment } from "../../harness/environment.ts";
import { metricSum } from "../../harness/metrics.ts";
import { pidOf } from "../contender.ts";
import { diskBytes } from "../disk.ts";
import { deleteStreams } from "../environment.ts";
import { type Footprint, footprintOf } from "../footprint.ts";
import { rssOf } from "../processes.ts";
import { profilerEnv } from "../profiler/profiler.ts";
import { figure } from "../table.ts";
import { createCrowd, crowdCrds, deleteCrowd } from "./crowd.ts";
import type { Measuring } from "./measuring.ts";

const cluster = "default";
const settleMillis = 600_000;
/** Created and deleted before the first measurement, so that compiled code and grown buffers do not count as a cost of objects. */
const warmUp = { share: 0.25, least: 1000 };

/** Path of a function of the tests. */
export const fixture = (name: string) =>
  new URL(`../../fixtures/functions/${name}.ts`, import.meta.url).pathname;

/** The environment of a measurement. */
export interface CrowdEnvironment {
  readonly measuring: Measuring;
  readonly environment: OwnTestEnvironment;
  readonly bus: Bus;
  /** How long a process is sampled after a garbage collection. */
  readonly sampleMillis: number;
}

/** The memory and disk usage of all processes while idle. */
export interface IdleUsage {
  readonly bridge: Footprint;
  readonly worker: Footprint;
  /** Resident memory, in MB. */
  readonly nats: number;
  /** In MB. */
  readonly disk: number;
  /** Bytes in OBJECTS. */
  readonly stored: number;
}

/** A start of a bridge. */
interface Start {
  readonly seconds: number;
  /** Objects that the bridge knew then. */
  readonly objects: number;
}

/** Bridges started when all objects exist. */
export interface Restarts {
  readonly resume: Start & { readonly memory: Footprint };
  /** Lists and publishes of the bridge that resumed. */
  readonly repeated: number;
  /** `objects` are those on the bus. */
  readonly list: Start & { readonly memory: Footprint };
}

/** Starts the control plane and the bus. */
export async function openCrowdEnvironment(
  measuring: Measuring,
  sampleMillis: number,
): Promise<CrowdEnvironment> {
  const environment = await startOwnTestEnvironment({ crds: crowdCrds() });
  measuring.defer(() => environment.stop());
  const bus = await connectBus({ url: environment.platform.natsUrl, name: "denrei-bench" });
  measuring.defer(() => bus.nc.close());
  return { measuring, environment, bus, sampleMillis };
}

/** Options of a replica with a profiler. The debug level would log a line per object. */
const measured = ({ platform }: OwnTestEnvironment) => ({
  env: { ...profilerEnv(platform.directory), DENREI_LOG_LEVEL: "info" },
});

/** Starts a bridge for these functions, which creates their streams. */
export const startBridge = (
  { environment }: CrowdEnvironment,
  name: string,
  ...functions: readonly string[]
): Promise<Replica> => environment.bridge(name, { ...measured(environment), args: functions.map(fixture) });

/** The processes that see the objects. */
export interface Onlookers {
  readonly bridge: Replica;
  readonly worker: Replica;
}

/** Starts a bridge and a worker, which have then seen some objects that no longer exist. Returns the number of these as well. */
export async function startWarm(
  crowd: CrowdEnvironment,
  size: number,
): Promise<Onlookers & { readonly warm: number }> {
  const { environment, measuring } = crowd;
  const warm = Math.max(warmUp.least, Math.round(size * warmUp.share));
  const bridge = await startBridge(crowd, "bridge-1", "onlooker");
  const worker = await environment.worker("worker-1", [fixture("onlooker")], measured(environment));
  measuring.say(`warming up with ${figure(warm)} objects`);
  await createCrowd(environment.client, { prefix: "warm", first: 1, count: warm, signal: measuring.signal });
  await settled(crowd, warm);
  await deleteCrowd(environment.client, measuring.signal);
  await settled(crowd, 0);
  return { bridge, worker, warm };
}

/** Creates objects, and returns the seconds until all are published and processed. */
export async function createSettled(crowd: CrowdEnvironment, first: number, count: number): Promise<number> {
  const { environment, measuring } = crowd;
  const begun = performance.now();
  await createCrowd(environment.client, { prefix: "many", first, count, signal: measuring.signal });
  await settled(crowd, first - 1 + count);
  return (performance.now() - begun) / 1000;
}

/** Replaces the bridge by one that resumes, and that by another with an empty bus. */
export async function restart(crowd: CrowdEnvironment, { bridge, worker }: Onlookers): Promise<Restarts> {
  const { bus, measuring } = crowd;
  await bridge.stop();
  const { bridge: resuming, ...resume } = await timedBridge(crowd, "bridge-2", "leading");
  measuring.say(`a resumed bridge knows all objects after ${figure(resume.seconds)} s`);
  const repeated = await metricSum([resuming], /^denrei_bridge_(lists|events)_total\{/);
  const resumeMemory = await footprint(crowd, resuming);
  await Promise.all([resuming.stop(), worker.stop()]);

  await deleteStreams(bus);
  const { bridge: listing, ...list } = await timedBridge(crowd, "bridge-3", "listed");
  measuring.say(`a bridge with an empty bus has published all objects after ${figure(list.seconds)} s`);
  const listMemory = await footprint(crowd, listing);
  const { state } = await bus.jsm.streams.info(streams.objects);
  return {
    resume: { ...resume, memory: resumeMemory },
    repeated,
    list: { ...list, objects: state.messages, memory: listMemory },
  };
}

/** Starts a bridge and waits for a log message about Hikawas. */
async function timedBridge(
  crowd: CrowdEnvironment,
  name: string,
  msg: "leading" | "listed",
): Promise<Start & { readonly bridge: Replica }> {
  const begun = performance.now();
  const bridge = await startBridge(crowd, name, "onlooker");
  const line = await bridge.log.until(
    (line) => line.includes(`"msg":"${msg}"`) && line.includes(`"kind":"${kindText(Hikawa)}"`),
    settleMillis,
  );
  const seconds = (performance.now() - begun) / 1000;
  return { bridge, seconds, objects: (JSON.parse(line) as { objects: number }).objects };
}

/** Waits until the bridge has published this many objects and the worker has processed each change. */
async function settled({ measuring, bus }: CrowdEnvironment, objects: number): Promise<void> {
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
    await sleep(200, undefined, { signal: measuring.signal });
  }
  throw new Error(
    `expected ${objects} objects on the bus and no pending work, found ${JSON.stringify(found)} after ${settleMillis} ms`,
  );
}

/** The memory of a replica. */
export const footprint = (
  { measuring, environment, sampleMillis }: CrowdEnvironment,
  replica: Replica,
): Promise<Footprint> => footprintOf(replica, environment.platform.directory, sampleMillis, measuring.signal);

/** Measures all processes while idle. */
export async function measureIdle(
  crowd: CrowdEnvironment,
  { bridge, worker }: Onlookers,
): Promise<IdleUsage> {
  const { environment, bus } = crowd;
  const footprints = await Promise.all([bridge, worker].map((replica) => footprint(crowd, replica)));
  const { state } = await bus.jsm.streams.info(streams.objects);
  return {
    bridge: footprints[0] as Footprint,
    worker: footprints[1] as Footprint,
    nats: rssOf(new Map([["nats", pidOf(environment.platform.nats)]])).get("nats") ?? Number.NaN,
    disk: (await diskBytes(join(environment.platform.directory, "nats"))) / 1e6,
    stored: state.bytes,
  };
}
