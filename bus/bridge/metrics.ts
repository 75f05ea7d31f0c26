/** Metrics of the bridge. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { type KindProgress, openProgress } from "./progress.ts";

const publishBuckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60];

/** Registers the metrics of one process. */
export function bridgeMetrics(registry: Registry) {
  const registers = [registry];
  const progress = openProgress();

  /** Registers a gauge that reads the progress of the kinds at each scrape. */
  function kindGauge(name: string, help: string, value: (kind: KindProgress) => number | undefined): void {
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

  kindGauge(
    "denrei_bridge_leading",
    "1 if this replica watches the kind, 0 if it stands by. Summed over namespaces if it watches only some.",
    ({ leading }) => leading,
  );
  kindGauge(
    "denrei_bridge_behind_seconds",
    "Seconds since a kind that this replica watches was last up to date on the bus. It is being listed, cannot be watched, or has unstored changes.",
    ({ leading, behindSeconds }) => (leading > 0 ? behindSeconds : undefined),
  );
  kindGauge(
    "denrei_bridge_objects",
    "Objects of the kinds that this replica watches.",
    ({ leading, objects }) => (leading > 0 ? objects : undefined),
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
      help: "Full lists: at the first start, and when the API server no longer serves the saved position.",
      labelNames: ["kind"] as const,
      registers,
    }),
    oversized: new Counter({
      name: "denrei_bridge_oversized_total",
      help: "Changes published in part because the object does not fit into a message.",
      labelNames: ["kind"] as const,
      registers,
    }),
    watches: new Counter({
      name: "denrei_bridge_watches_total",
      help: "Watch requests. Each resumes where the previous one ended.",
      labelNames: ["kind"] as const,
      registers,
    }),
    refused: new Gauge({
      name: "denrei_bridge_refused",
      help: "1 if the bridge has no permission to watch the kind: in an opted-in namespace, or, with namespace *, as a listed kind.",
      labelNames: ["kind", "namespace"] as const,
      registers,
    }),
    published: new Histogram({
      name: "denrei_bridge_publish_seconds",
      help: "Time from reading a change off the watch until the bus has stored it.",
      labelNames: ["kind"] as const,
      buckets: publishBuckets,
      registers,
    }),
  };
}
