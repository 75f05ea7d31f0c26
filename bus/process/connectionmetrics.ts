/** Metrics of connections. All servers of a process share them. */
import { Counter, Gauge, type Registry } from "prom-client";

/** `unproven`: no proof of the sender yet. `kept`: idle after a proven request. `proven`: handling a proven request. */
export type ConnectionState = "unproven" | "kept" | "proven";

const reasons = ["displaced", "refused", "slow", "unread", "malformed"] as const;
/** Why a connection was closed early. */
export type CutReason = (typeof reasons)[number];

type Counts = Readonly<Record<ConnectionState, number>>;

const counted = new WeakMap<Registry, Map<string, () => Counts>>();

/** Registers a server, whose connections `count` counts. Returns the function that counts early closes. */
export function connectionMetrics(
  registry: Registry,
  server: string,
  count: () => Counts,
): (reason: CutReason) => void {
  const servers = counted.get(registry) ?? new Map<string, () => Counts>();
  servers.set(server, count);
  if (!counted.has(registry)) {
    counted.set(registry, servers);
    register(registry, servers);
  }
  const cut = registry.getSingleMetric(cutName) as Counter<"server" | "reason">;
  // Start the counters at 0, so that the first increase is visible.
  for (const reason of reasons) cut.inc({ server, reason }, 0);
  return (reason) => cut.inc({ server, reason });
}

const cutName = "denrei_http_connections_cut_total";

function register(registry: Registry, servers: ReadonlyMap<string, () => Counts>): void {
  const registers = [registry];
  new Gauge({
    name: "denrei_http_connections",
    help: "Open connections by server and state: unproven, kept (idle after a request with a proof), proven.",
    labelNames: ["server", "state"] as const,
    registers,
    collect() {
      for (const [server, count] of servers)
        for (const [state, value] of Object.entries(count())) this.set({ server, state }, value);
    },
  });
  new Counter({
    name: cutName,
    help: "Connections closed early, by server and reason: displaced (by a newer one), refused (all are in use), slow, unread (an answer), malformed.",
    labelNames: ["server", "reason"] as const,
    registers,
  });
}
