/** Very many objects on one bridge: memory, disk, and the time of its starts. */
import { withCleanup } from "../../harness/cleanup.ts";
import { figure } from "../table.ts";
import {
  createSettled,
  type IdleUsage,
  measureIdle,
  openCrowdEnvironment,
  type Restarts,
  restart,
  startWarm,
} from "./crowdenvironment.ts";
import type { Measuring } from "./measuring.ts";

/** The figures of one number of objects. */
export interface ObjectsRun {
  readonly objects: number;
  /** Created by the benchmark, published by the bridge, and reconciled by the worker. */
  readonly createdPerSecond: number;
  readonly empty: IdleUsage;
  readonly full: IdleUsage;
  readonly restarts: Restarts;
}

const sampleMillis = 5000;

/** Measures each number of objects on a control plane of its own. Throws if a bridge does not know all objects. */
export async function measureObjects(
  sizes: readonly number[],
  { signal, say }: Omit<Measuring, "defer">,
): Promise<ObjectsRun[]> {
  const runs: ObjectsRun[] = [];
  for (const size of sizes) {
    say(`scale: ${figure(size)} objects`);
    runs.push(await withCleanup(signal, (defer) => measureSize(size, { signal, say, defer })));
  }
  return runs;
}

async function measureSize(objects: number, measuring: Measuring): Promise<ObjectsRun> {
  const crowd = await openCrowdEnvironment(measuring, sampleMillis);
  const onlookers = await startWarm(crowd, objects);
  const empty = await measureIdle(crowd, onlookers);
  const createdPerSecond = objects / (await createSettled(crowd, 1, objects));
  measuring.say(`created ${figure(createdPerSecond)} objects per second`);
  const full = await measureIdle(crowd, onlookers);
  const restarts = await restart(crowd, onlookers);
  expectAll(objects, restarts);
  return { objects, createdPerSecond, empty, full, restarts };
}

function expectAll(objects: number, { resume, repeated, list }: Restarts): void {
  if (resume.objects !== objects || repeated !== 0)
    throw new Error(
      `expected a resumed bridge to know ${objects} objects without listing or publishing, found ${resume.objects} and ${repeated} lists and publishes`,
    );
  if (list.objects !== objects)
    throw new Error(
      `expected a bridge with an empty bus to publish ${objects} objects, found ${list.objects} on the bus`,
    );
}
