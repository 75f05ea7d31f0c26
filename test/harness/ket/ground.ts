/** What a run stands on. */

import type { Interest } from "../../../bus/topology.ts";
import type { ReconcileFunction } from "../../../bus/worker/function.ts";
import type { LocalNats } from "../../../deploy/local/index.ts";
import type { KetOptions } from "./options.ts";

/** What a run needs. */
export interface GroundOptions {
  readonly options: KetOptions;
  readonly functions: readonly ReconcileFunction[];
  readonly interests: readonly Interest[];
  readonly crds: readonly Record<string, unknown>[];
}

/** A cluster with the CRDs, a bus with the users, and a place for processes. */
export interface KetGround {
  readonly platform: LocalNats;
  readonly kubeconfigPath: string;
  /** What of the cluster is thrown away at the end: all of it, or what the run has made there. */
  readonly owned: "all" | "part";
  stop(): Promise<void>;
}

/** Opens it. What fails leaves nothing behind. */
export async function openGround(options: GroundOptions): Promise<KetGround> {
  const { cluster = "local" } = options.options;
  switch (cluster) {
    case "local":
      return (await import("./local.ts")).localGround(options);
    case "existing":
      return (await import("./existing.ts")).existingGround(options);
    case "kind":
      return (await import("./kind.ts")).kindGround(options);
    default:
      throw new TypeError(
        `expected the cluster to be "local", "kind" or "existing", found ${JSON.stringify(cluster)}`,
      );
  }
}
