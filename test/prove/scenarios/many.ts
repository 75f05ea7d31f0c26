/**
 * A hundred thousand objects. The workers cache none of them, and the bridge keeps a version of each; for comparison, a controller
 * with informer caches holds the same objects.
 *
 * At the smallest size the memory of the processes hides the cost of objects, so the limits are a few MB. They still detect a worker or
 * bridge that keeps far more than it should, and every count is checked.
 */

import type { Footprint } from "../../bench/footprint.ts";
import { objectBytes } from "../../bench/scale/crowd.ts";
import { type Found, measureMany } from "../many/measure.ts";
import { bounded, type Check, type Figure, figure, type Outcome, type Scenario } from "../scenario.ts";

const limits = { bridgeBytes: 200, workerMegabytes: 5 };
/** Below this growth in bytes, the cost of objects is lost in the noise of a process and its heap. */
const noise = { resident: 5e6, held: 2e6 };

/** Printed at the smallest size, which leaves these starts out. */
const unmeasured = "not measured at this size";

export const many: Scenario = {
  number: 12,
  name: "many",
  title:
    "Memory, disk, and startup time of bridge, worker, bus, and a controller with caches for 100,000 finished Hikawas of 2 KB, which cause no writes. " +
    "The Go operator starts after their creation. Memory is resident and after a garbage collection.",
  promise: "100,000 objects cost the bridge at most 200 B each, and a worker 5 MB",
  fullMinutes: 12,
  tested: "always",
  run: async (trial) => outcomeOf(await measureMany(trial)),
};

const outcomeOf = (found: Found): Outcome => ({
  injected: [
    `${figure(found.size)} objects of ${objectBytes} bytes, after ${figure(found.warm)} that were deleted again`,
  ],
  checks: checksOf(found),
  figures: [
    { what: "objects created, published, and processed per second", found: figure(found.createdPerSecond) },
    ...bridgeFigures(found),
    memoryFigure("worker, no objects", found.empty.worker),
    memoryFigure("worker, all objects", found.full.worker),
    ...peerFigures(found),
    ...natsFigures(found),
    ...startFigures(found),
  ],
});

function checksOf({ size, empty, few, full, census, restarts, peer }: Found): Check[] {
  const resident = (full.bridge.collected - empty.bridge.collected) * 1e6;
  const held = full.bridge.heldBytes - empty.bridge.heldBytes;
  const worker = full.worker.collected - empty.worker.collected;
  const peerBytes = peer && ((peer.megabytes - peer.fewMegabytes) * 1e6) / (size - few.objects);
  /** Per object, but at least the noise divided by all of them. */
  const limit = (noiseBytes: number) => Math.max(limits.bridgeBytes, noiseBytes / size);
  return [
    bounded("bridge growth per object, resident", resident / size, "<=", limit(noise.resident), "B", {
      ...(peerBytes !== undefined && { peer: `${figure(peerBytes)} B (caches all objects)` }),
    }),
    bounded("bridge growth per object, V8 heap and buffers", held / size, "<=", limit(noise.held), "B"),
    bounded("worker growth", worker, "<=", limits.workerMegabytes, "MB"),
    ...(census ? [bounded("objects seen by a new function", census.seen, "=", size, "")] : []),
    ...(restarts
      ? [
          bounded("objects known to a resumed bridge", restarts.resume.objects, "=", size, ""),
          bounded("objects it lists or publishes again", restarts.repeated, "=", 0, ""),
          bounded("objects published by a bridge with an empty bus", restarts.list.objects, "=", size, ""),
        ]
      : []),
  ];
}

function bridgeFigures({ size, empty, few, full, restarts }: Found): Figure[] {
  const more = size - few.objects;
  const perObject = ((full.bridge.collected - few.memory.collected) * 1e6) / more;
  return [
    {
      what: `bridge growth per object from ${figure(few.objects)} objects on, resident, as for the peer`,
      found: `${figure(perObject)} B`,
    },
    memoryFigure("bridge, no objects", empty.bridge),
    memoryFigure(`bridge, ${figure(few.objects)} objects`, few.memory),
    memoryFigure("bridge, all objects", full.bridge),
    ...(restarts
      ? [
          memoryFigure("resumed bridge", restarts.resume.memory),
          memoryFigure("bridge after a list into an empty bus", restarts.list.memory),
        ]
      : []),
  ];
}

const peerFigures = ({ size, few, peer }: Found): Figure[] =>
  peer
    ? [
        {
          what: `controller, minimum of two minutes, ${figure(few.objects)} and ${figure(size)} objects`,
          found: "workers cache none",
          peer: `${figure(peer.fewMegabytes)} MB, ${figure(peer.megabytes)} MB`,
        },
      ]
    : [];

const natsFigures = ({ size, empty, full }: Found): Figure[] => [
  {
    what: "NATS, no objects and all objects",
    found: `${figure(empty.nats)} MB, ${figure(full.nats)} MB`,
  },
  {
    what: "NATS disk, no objects and all objects",
    found: `${figure(empty.disk)} MB, ${figure(full.disk)} MB (OBJECTS: ${figure(full.stored / size)} B per object)`,
  },
];

function startFigures({ census, restarts }: Found): Figure[] {
  const time = (start: { readonly seconds: number } | undefined): string =>
    start ? `${figure(start.seconds)} s` : unmeasured;
  return [
    { what: "new function: start to all seen", found: time(census) },
    { what: "resumed bridge: start to all known", found: time(restarts?.resume) },
    { what: "bridge with an empty bus: start to all published", found: time(restarts?.list) },
  ];
}

const memoryFigure = (who: string, { collected, uncollected, peak, heldBytes }: Footprint): Figure => ({
  what: `${who}: collected (before, peak; heap)`,
  found: `${figure(collected)} MB (${figure(uncollected)}, ${figure(peak)}; ${figure(heldBytes / 1e6)})`,
});
