/**
 * A hundred thousand objects. The workers hold none of them and the bridge holds a version of each; the same objects
 * in a controller with informer caches, beside that.
 *
 * At the smallest size what an object costs is lost in what a process needs anyway, so below some MB the limits are
 * those MB: what then breaks is a worker or a bridge that keeps far more than it should, and each count.
 */
import { objectBytes } from "../crowd.ts";
import type { Footprint } from "../footprint.ts";
import { type Found, measureMany } from "../many/measure.ts";
import { bounded, type Figure, figure, type Outcome, type Scenario } from "../scenario.ts";

const limits = { bridgeBytes: 200, workerMegabytes: 5 };
/** Below so many bytes of growth no object can be told from the noise of a process, and of a heap. */
const noise = { resident: 5e6, held: 2e6 };

/** Printed at the smallest size, which leaves these starts out. */
const unmeasured = "not measured at this size";

export const many: Scenario = {
  number: 12,
  name: "many",
  title:
    "What bridge, worker, bus and a controller with caches need for 100,000 Hikawas of 2 KB. " +
    "All have finished, so that neither side writes. The Go operator is started when they are there.",
  fullMinutes: 12,
  tested: "always",
  run: async (trial) => outcomeOf(await measureMany(trial)),
};

function outcomeOf({ size, warm, empty, few, full, census, restarts, peer, ...found }: Found): Outcome {
  const more = size - few.objects;
  const resident = (full.bridge.collected - empty.bridge.collected) * 1e6;
  const held = full.bridge.heldBytes - empty.bridge.heldBytes;
  const worker = full.worker.collected - empty.worker.collected;
  const peerBytes = peer && ((peer.megabytes - peer.fewMegabytes) * 1e6) / more;
  const theirs = (text: string | undefined) => (text === undefined ? {} : { peer: text });
  /** Per object, but not less than what is noise in all of them. */
  const limit = (noiseBytes: number) => Math.max(limits.bridgeBytes, noiseBytes / size);
  return {
    injected: [
      `${figure(size)} objects of ${objectBytes} bytes, after ${figure(warm)} that were deleted again`,
    ],
    checks: [
      bounded(
        "growth of the bridge per object, resident, garbage collected",
        resident / size,
        "<=",
        limit(noise.resident),
        "B",
        theirs(
          peerBytes === undefined ? undefined : `${figure(peerBytes)} B (the operator, which holds them all)`,
        ),
      ),
      bounded(
        "growth of the bridge per object, in V8's heap and array buffers",
        held / size,
        "<=",
        limit(noise.held),
        "B",
      ),
      bounded("growth of the worker, garbage collected", worker, "<=", limits.workerMegabytes, "MB"),
      ...(census ? [bounded("objects that a new function has seen", census.seen, "=", size, "")] : []),
      ...(restarts
        ? [
            bounded("objects that a bridge that resumes knows", restarts.resume.objects, "=", size, ""),
            bounded("what it lists and publishes again", restarts.repeated, "=", 0, ""),
            bounded(
              "objects that a bridge with an empty bus has published",
              restarts.list.objects,
              "=",
              size,
              "",
            ),
          ]
        : []),
    ],
    figures: [
      { what: "objects created, published and looked at per second", found: figure(found.createdPerSecond) },
      {
        what: `growth of the bridge per object from ${figure(few.objects)} objects on, as the peer's is measured, resident`,
        found: `${figure(((full.bridge.collected - few.memory.collected) * 1e6) / more)} B`,
      },
      memoryFigure("bridge, no objects", empty.bridge),
      memoryFigure(`bridge, ${figure(few.objects)} objects`, few.memory),
      memoryFigure("bridge, all objects", full.bridge),
      ...(restarts
        ? [
            memoryFigure("bridge that has resumed", restarts.resume.memory),
            memoryFigure("bridge that has listed all into an empty bus", restarts.list.memory),
          ]
        : []),
      memoryFigure("worker, no objects", empty.worker),
      memoryFigure("worker, all objects", full.worker),
      ...(peer
        ? [
            {
              what: `controller, resident, the least in two minutes, with ${figure(few.objects)} and with ${figure(size)} objects`,
              found: "workers hold none",
              peer: `${figure(peer.fewMegabytes)} MB, ${figure(peer.megabytes)} MB`,
            },
          ]
        : []),
      {
        what: "NATS, resident, no objects and all objects",
        found: `${figure(empty.nats)} MB, ${figure(full.nats)} MB`,
      },
      {
        what: "NATS on disk, no objects and all objects",
        found: `${figure(empty.disk)} MB, ${figure(full.disk)} MB (OBJECTS: ${figure(full.stored / size)} B per object)`,
      },
      {
        what: "start of a new function until it has seen all",
        found: census ? `${figure(census.seconds)} s` : unmeasured,
      },
      {
        what: "start of a bridge that resumes until it knows all",
        found: restarts ? `${figure(restarts.resume.seconds)} s` : unmeasured,
      },
      {
        what: "start of a bridge with an empty bus until all are published",
        found: restarts ? `${figure(restarts.list.seconds)} s` : unmeasured,
      },
    ],
  };
}

const memoryFigure = (who: string, { collected, asItIs, peak, heldBytes }: Footprint): Figure => ({
  what: `${who}: garbage collected (as it was, peak since its start; in V8's heap)`,
  found: `${figure(collected)} MB (${figure(asItIs)}, ${figure(peak)}; ${figure(heldBytes / 1e6)})`,
});
