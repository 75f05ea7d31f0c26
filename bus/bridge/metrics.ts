/** What a bridge counts. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { type KindProgress, openProgress } from "./progress.ts";

const publishBuckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60];

/** The metrics of one process. */
export function bridgeMetrics(registry: Registry) {
  const registers = [registry];
  const progress = openProgress();

  /** A gauge that asks how far the kinds are when it is read. */
  function ofKinds(name: string, help: string, value: (kind: KindProgress) => number | undefined): void {
    new Gauge({
      name,
      help,
      labelNames: ["kind"] as const,
      registers,
      collect() {
        this.reset();
        for (const [kind, found] of progress.kinds()) {
          const now = value(found);
          if (now !== undefined) this.set({ kind }, now);
        }
      },
    });
  }

  ofKinds(
    "denrei_bridge_leading",
    "1 where this replica watches the kind, 0 where it stands by; a sum over the namespaces, if it watches only some.",
    ({ leading }) => leading,
  );
  ofKinds(
    "denrei_bridge_behind_seconds",
    "For how long a kind that this replica watches has not been up to date on the bus: it is listed or can not be watched, or a change waits to be stored.",
    ({ leading, behindSeconds }) => (leading > 0 ? behindSeconds : undefined),
  );
  ofKinds("denrei_bridge_objects", "Objects of a kind that this replica watches.", ({ leading, objects }) =>
    leading > 0 ? objects : undefined,
  );
  return {
    progress,
    events: new Counter({
      name: "denrei_bridge_events_total",
      help: "Changes published to the object store.",
      labelNames: ["kind", "change"] as const,
      registers,
    }),
    lists: new Counter({
      name: "denrei_bridge_lists_total",
      help: "Full lists: at the first start, and when the API server no longer serves the position.",
      labelNames: ["kind"] as const,
      registers,
    }),
    oversized: new Counter({
      name: "denrei_bridge_oversized_total",
      help: "Changes of which only a part was published, because the object does not fit into a message.",
      labelNames: ["kind"] as const,
      registers,
    }),
    watches: new Counter({
      name: "denrei_bridge_watches_total",
      help: "Watch requests, each resuming where the one before ended.",
      labelNames: ["kind"] as const,
      registers,
    }),
    refused: new Gauge({
      name: "denrei_bridge_refused",
      help: "1 for a kind that the bridge has no rights to watch in an opted-in namespace, or, with the namespace *, as a listed kind.",
      labelNames: ["kind", "namespace"] as const,
      registers,
    }),
    published: new Histogram({
      name: "denrei_bridge_publish_seconds",
      help: "Time from reading a change off the watch to its being stored by the bus.",
      labelNames: ["kind"] as const,
      buckets: publishBuckets,
      registers,
    }),
  };
}
