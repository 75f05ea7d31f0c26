/** The measurements of the scenario `many`: processes with no objects, with few, and with all of them. */
import { pidOf } from "../../bench/contender.ts";
import type { Footprint } from "../../bench/footprint.ts";
import { buildPeer, startGoReplica } from "../../bench/gopeer.ts";
import { idleRssOf } from "../../bench/processes.ts";
import {
  type CrowdEnvironment,
  createSettled,
  fixture,
  footprint,
  type IdleUsage,
  measureIdle,
  openCrowdEnvironment,
  type Restarts,
  restart,
  startBridge,
  startWarm,
} from "../../bench/scale/crowdenvironment.ts";
import { figure, type Trial } from "../scenario.ts";

const objects = { full: 100_000, least: 1000 };
/** Both sides are also measured with this share of the objects. */
const fewShare = 0.1;
const seenMillis = 600_000;
/** How long a process is sampled after a garbage collection. */
const sample = { full: 5000, least: 1000 };
/** The Go runtime collects at least every two minutes, and cannot be forced to from outside. */
const goSample = { full: 125_000, least: 1000 };

/** The environment of the scenario. */
interface Setup {
  readonly trial: Trial;
  readonly crowd: CrowdEnvironment;
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

/** Measures everything on a separate control plane. */
export async function measureMany(trial: Trial): Promise<Found> {
  if (trial.peer === "measure") await buildPeer(trial.signal);
  const crowd = await openCrowdEnvironment(trial, trial.scaled(sample.full, sample.least));
  return measureAll({ trial, crowd });
}

async function measureAll(setup: Setup): Promise<Found> {
  const { trial, crowd } = setup;
  const size = trial.scaled(objects.full, objects.least);
  // The starts are measured only at larger sizes. Other tests show that they work.
  const isLeast = size === objects.least;
  const few = Math.round(size * fewShare);
  const { warm, ...onlookers } = await startWarm(crowd, size);
  const empty = await measureIdle(crowd, onlookers);

  trial.say(`creating ${figure(size)} objects`);
  const fewSeconds = await createSettled(crowd, 1, few);
  const fewMemory = await footprint(crowd, onlookers.bridge);
  const fewMegabytes = await peerMegabytes(setup, "few");
  const seconds = fewSeconds + (await createSettled(crowd, few + 1, size - few));
  trial.say("all objects are published and processed");
  const full = await measureIdle(crowd, onlookers);

  const census = isLeast ? undefined : await takeCensus(setup, size);
  const megabytes = await peerMegabytes(setup, "all");
  const restarts = isLeast ? undefined : await restart(crowd, onlookers);
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

/** A function that is new to the bus: from the start of its process until it has seen every object. */
async function takeCensus(
  { crowd, trial }: Setup,
  size: number,
): Promise<{ readonly seconds: number; readonly seen: number }> {
  // The new function's bridge stays on standby after it has created the streams.
  const standby = await startBridge(crowd, "bridge-new", "onlooker", "census");
  const begun = performance.now();
  const worker = await crowd.environment.worker("census-1", [fixture("census")], {
    env: { DENREI_LOG_LEVEL: "info", DENREI_TEST_CENSUS: String(size) },
  });
  const line = await worker.log.until((line) => line.includes('"msg":"census complete"'), seenMillis);
  const seconds = (performance.now() - begun) / 1000;
  await Promise.all([worker.stop(), standby.stop()]);
  trial.say(`a new function has seen all objects after ${figure(seconds)} s`);
  return { seconds, seen: (JSON.parse(line) as { seen: number }).seen };
}

/** The Go operator, started when the objects exist: the minimum of its resident memory while idle. */
async function peerMegabytes({ trial, crowd }: Setup, label: string): Promise<number | undefined> {
  if (trial.peer === "omit") return undefined;
  const peer = await startGoReplica(crowd.environment.platform, `go-${label}`, "alone");
  await peer.leads();
  const millis = trial.scaled(goSample.full, goSample.least);
  trial.say(`watching the memory of the Go operator for ${figure(millis / 1000)} s`);
  const least = await idleRssOf(new Map([["go", pidOf(peer)]]), { millis, signal: trial.signal });
  await peer.stop();
  return least.get("go");
}
