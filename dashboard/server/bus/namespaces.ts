/** The namespaces in which functions work. Most users may not list namespaces, so these are the candidates for them. */
import { activity, type Bus, namespacesOnBus, parseKeySubject } from "denrei/bus";
import type { ReconcileFunction } from "denrei/runtime";

/** Options of {@link busNamespaces}. */
export interface BusNamespacesOptions {
  readonly bus: Pick<Bus, "nc" | "jsm">;
  readonly cluster: string;
  readonly functions: readonly ReconcileFunction[];
  readonly onError: (error: unknown) => void;
}

/** The namespaces that the bus knows. */
export interface BusNamespaces {
  /** Reads the bus at the first call, and follows it from then on. */
  all(): Promise<ReadonlySet<string>>;
  stop(): void;
}

/** The namespaces that the bus knows. The bus keeps activity for a day, and this process what it has seen. */
export function busNamespaces({ bus, cluster, functions, onError }: BusNamespacesOptions): BusNamespaces {
  const seen = new Set<string>();
  let reading: Promise<void> | undefined;
  const subscription = bus.nc.subscribe(activity.every(cluster), {
    callback(error, { subject }) {
      if (error !== null) return onError(error);
      try {
        seen.add(parseKeySubject(subject).key.namespace);
      } catch {
        // Not an activity record. An error thrown here would stop all subscriptions of the connection.
      }
    },
  });

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
      seen.delete("");
      return seen;
    },
    stop() {
      if (!subscription.isClosed()) subscription.unsubscribe();
    },
  };
}
