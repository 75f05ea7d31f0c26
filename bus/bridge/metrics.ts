/** What a bridge counts. */
import { Counter, Gauge, type Registry } from "prom-client";

/** The metrics of one process. */
export function bridgeMetrics(registry: Registry) {
  const registers = [registry];
  return {
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
      help: "Changes that were left out because the object does not fit into a message of the bus.",
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
      help: "1 for a kind and an opted-in namespace where the bridge may not watch it: its RoleBinding is missing.",
      labelNames: ["kind", "namespace"] as const,
      registers,
    }),
    leading: new Gauge({
      name: "denrei_bridge_leading",
      help: "1 where this replica watches the kind, 0 where it stands by; a sum over the namespaces, if it watches only some.",
      labelNames: ["kind"] as const,
      registers,
    }),
  };
}
