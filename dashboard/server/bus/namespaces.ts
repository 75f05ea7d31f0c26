/** The namespaces in which functions work. Most users may not list namespaces, so these are the candidates for them. */
import { type Bus, namespacesOnBus } from "denrei/bus";
import type { ReconcileFunction } from "denrei/runtime";

/** The namespaces that the bus knows. */
export interface BusNamespaces {
  /** Reads the bus at the first call. */
  all(): Promise<ReadonlySet<string>>;
  /** Adds the namespace of an object that was reconciled. Empty for cluster-scoped objects. */
  add(namespace: string): void;
}

/** The bus keeps activity for a day, and this process what it has seen. */
export function busNamespaces(
  bus: Pick<Bus, "jsm">,
  cluster: string,
  functions: readonly ReconcileFunction[],
): BusNamespaces {
  const seen = new Set<string>();
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const found = await Promise.all(functions.map(({ name }) => namespacesOnBus(bus, { fn: name, cluster })));
    for (const namespace of found.flat()) seen.add(namespace);
  }

  return {
    async all() {
      reading ??= read();
      await reading.catch((error: unknown) => {
        reading = undefined;
        throw error;
      });
      return seen;
    },
    add(namespace) {
      if (namespace !== "") seen.add(namespace);
    },
  };
}
