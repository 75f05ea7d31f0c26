/** All results of a benchmark run, and figures of several of them. */
import type { Side } from "./contender.ts";
import type { ListOpening } from "./dashboard.ts";
import type { Idle, IdleMemory } from "./idle.ts";
import type { Pace } from "./latency.ts";
import type { Machine } from "./machine.ts";
import type { Usage } from "./processes.ts";
import type { QueueSeries } from "./queue.ts";
import type { RoutingRun } from "./routing.ts";
import type { ScaleResults } from "./scale/scale.ts";
import type { StartsRun } from "./starts.ts";
import { sumOf } from "./statistics.ts";
import type { Throughput } from "./throughput.ts";
import type { WebhookRuns } from "./webhooks/rounds.ts";

/** The sizes of the measurements. */
export interface Sizes {
  readonly rounds: number;
  readonly hikawas: number;
  readonly singles: number;
  readonly idle: number;
  readonly requests: number;
  readonly deliveries: number;
  readonly remoteSyncs: number;
  readonly saves: number;
  readonly applications: number;
  readonly openings: number;
}

/** Series have one entry per round; parts that were not run are missing. */
export interface Results {
  readonly machine: Machine;
  readonly sizes: Sizes;
  readonly throughput?: Readonly<Record<Side, readonly Throughput[]>> | undefined;
  readonly latency?:
    | Readonly<Record<Pace, Readonly<Record<Side, readonly (readonly number[])[]>>>>
    | undefined;
  readonly queue?: readonly QueueSeries[] | undefined;
  readonly idle?: Readonly<Record<"denrei" | "go", IdleMemory>> | undefined;
  readonly starts?: readonly StartsRun[] | undefined;
  readonly webhooks?: WebhookRuns | undefined;
  readonly routing?: readonly RoutingRun[] | undefined;
  /** Milliseconds. */
  readonly saves?: readonly number[] | undefined;
  readonly list?: readonly ListOpening[] | undefined;
  readonly scale?: ScaleResults | undefined;
}

/** Processes shared by both sides, or part of the benchmark. */
const common = new Set(["kube-apiserver", "etcd", "benchmark"]);

/** CPU seconds of one process. NaN for a process that the side does not have. */
export const cpuOf =
  (role: string) =>
  ({ usage }: Throughput): number =>
    usage.get(role)?.cpuSeconds ?? Number.NaN;

/** The usage of the controller itself: for Denrei, of bridge, workers, and bus. */
export const ownUsage = (usage: ReadonlyMap<string, Usage>): Usage[] =>
  [...usage].filter(([role]) => !common.has(role)).map(([, used]) => used);

export const controllerCpu = ({ usage }: Throughput): number =>
  sumOf(ownUsage(usage).map(({ cpuSeconds }) => cpuSeconds));

export const controllerMemory = ({ usage }: Throughput): number =>
  sumOf(ownUsage(usage).map(({ rssMegabytes }) => rssMegabytes));

export const callsPerHikawa = ({ calls }: Throughput, { hikawas }: Sizes): number =>
  sumOf(calls.values()) / hikawas;

/** Growth of each worker's memory from none to all idle Hikawas, in MB. */
export const workerGrowth = ({ empty, full }: IdleMemory, when: keyof Idle): number[] =>
  [...full[when]]
    .filter(([role]) => role.startsWith("worker"))
    .map(([role, megabytes]) => megabytes - (empty[when].get(role) ?? Number.NaN));

/** Memory of an idle installation, in MB. */
export const idleMegabytes = ({ all }: StartsRun): number =>
  sumOf([...all.values()].map(({ rssMegabytes }) => rssMegabytes));

/** CPU of an idle installation, in thousandths of a core. */
export const idleMillicores = ({ all, idleSeconds }: StartsRun): number =>
  (sumOf([...all.values()].map(({ cpuSeconds }) => cpuSeconds)) / idleSeconds) * 1000;
