/** How far one machine carries Denrei: objects, opted-in namespaces, functions, and replicas. */
import type { Accounts } from "../environment.ts";
import { type FunctionsRun, measureFunctions } from "./functions.ts";
import { measureNamespaces, type NamespacesRun } from "./namespaces.ts";
import { measureObjects, type ObjectsRun } from "./objects.ts";
import { measureReplicas, type ReplicasRun } from "./replicas.ts";

/** The measurements. */
export const scaleMeasurements = ["objects", "namespaces", "functions", "replicas"] as const;
export type ScaleMeasurement = (typeof scaleMeasurements)[number];

/** The sizes of the measurements. */
export interface ScaleSizes {
  readonly scaleObjects: readonly number[];
  readonly scaleNamespaces: readonly number[];
  readonly scaleFunctions: readonly number[];
  readonly scaleReplicas: readonly number[];
  /** Reconciles in a round of functions and of replicas. */
  readonly scaleRequests: number;
  /** Paced events for the latency of functions. */
  readonly scaleSingles: number;
  /** Rounds of functions and of replicas. */
  readonly scaleRounds: number;
}

/** The default sizes. */
export const fullScale: ScaleSizes = {
  scaleObjects: [50_000, 100_000, 250_000],
  scaleNamespaces: [100, 300, 1000],
  scaleFunctions: [1, 5, 15],
  scaleReplicas: [1, 3, 10, 30, 100, 200],
  scaleRequests: 30_000,
  scaleSingles: 300,
  scaleRounds: 3,
};

/** The figures of the measurements that ran, one entry per size. */
export interface ScaleResults {
  readonly sizes: ScaleSizes;
  readonly objects?: readonly ObjectsRun[] | undefined;
  readonly namespaces?: readonly NamespacesRun[] | undefined;
  readonly functions?: readonly FunctionsRun[] | undefined;
  readonly replicas?: readonly ReplicasRun[] | undefined;
}

/** Runs measurements one after another. An error ends all of them. */
export async function measureScale(
  chosen: readonly ScaleMeasurement[],
  sizes: ScaleSizes,
  accounts: Accounts,
  stopping: AbortController,
  say: (line: string) => void,
): Promise<ScaleResults> {
  const measuring = { signal: stopping.signal, say, fail: (error: Error) => stopping.abort(error) };
  const { scaleRequests: requests, scaleSingles: singles, scaleRounds: rounds } = sizes;
  const wants = (measurement: ScaleMeasurement) => chosen.includes(measurement);
  return {
    sizes,
    objects: wants("objects") ? await measureObjects(sizes.scaleObjects, measuring) : undefined,
    namespaces: wants("namespaces") ? await measureNamespaces(sizes.scaleNamespaces, measuring) : undefined,
    functions: wants("functions")
      ? await measureFunctions(
          { functions: sizes.scaleFunctions, requests, singles, rounds },
          accounts,
          measuring,
        )
      : undefined,
    replicas: wants("replicas")
      ? await measureReplicas({ replicas: sizes.scaleReplicas, requests, rounds }, accounts, measuring)
      : undefined,
  };
}
