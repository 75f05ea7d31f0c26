/** Reconciles in flight, as the workers report them. */
import { askInFlight, type Bus } from "denrei/bus";
import type { InFlightReconcile, Working } from "../../api/bus.ts";
import { apiTime } from "./apivalues.ts";

/** Asks all workers. Returns the reconciles in these namespaces. */
export async function reconcilesInFlight(
  bus: Bus,
  cluster: string,
  namespaces: readonly string[] | "every",
): Promise<Working> {
  const replicas = new Map<string, { functions: string[]; inFlight: InFlightReconcile[] }>();
  for (const { replica, function: fn, group, kind, work } of await askInFlight(bus, cluster)) {
    const found = replicas.get(replica) ?? { functions: [], inFlight: [] };
    replicas.set(replica, found);
    found.functions.push(fn);
    for (const { namespace, name, since, attempt, trace } of work) {
      if (namespaces !== "every" && !namespaces.includes(namespace)) continue;
      const object = { group, kind, namespace, name };
      found.inFlight.push({ function: fn, object, since: apiTime(since), attempt, trace: trace ?? null });
    }
  }
  for (const { inFlight } of replicas.values()) inFlight.sort((a, b) => a.since.localeCompare(b.since));
  return { replicas: [...replicas].map(([replica, rest]) => ({ replica, ...rest })) };
}
