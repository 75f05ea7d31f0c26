import type { LocalNats } from "@denrei/cli/local/index";
import type { BusAddress, FunctionSubscription } from "denrei/bus";
import type { ReconcileFunction } from "denrei/runtime";
import type { KetOptions, KindCluster } from "./options.ts";

/** Options of the environment. */
export interface KetEnvironmentOptions {
  readonly options: KetOptions;
  readonly functions: readonly ReconcileFunction[];
  readonly subscriptions: readonly FunctionSubscription[];
  readonly crds: readonly Record<string, unknown>[];
}

/** A cluster with the CRDs, and a bus. */
export interface KetEnvironment {
  /** The bus next to the cluster and a place for processes; undefined where the functions are deployed. */
  readonly platform?: LocalNats | undefined;
  /** The functions and the bus in the cluster. */
  readonly deployed?:
    | { readonly bus: Omit<BusAddress, "name">; readonly log: () => Promise<readonly string[]> }
    | undefined;
  readonly kind?: KindCluster | undefined;
  readonly kubeconfigPath: string;
  /** What to delete at the end: the whole cluster, or only the objects of the run. */
  readonly owned: "all" | "part";
  stop(): Promise<void>;
}

/** Starts the environment. A failed start leaves nothing behind. */
export async function openKetEnvironment(options: KetEnvironmentOptions): Promise<KetEnvironment> {
  const { cluster = "local" } = options.options;
  switch (cluster) {
    case "local":
      return (await import("./local.ts")).localEnvironment(options);
    case "existing":
      return (await import("./existing.ts")).existingEnvironment(options);
    case "kind":
      return (await import("./kind.ts")).kindEnvironment(options);
    default:
      throw new TypeError(
        `expected the cluster to be "local", "kind" or "existing", found ${JSON.stringify(cluster)}`,
      );
  }
}
