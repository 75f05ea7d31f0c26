/** All results of a benchmark run, and the figures with goals. */
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
import { quantile, ratioOf, type Spread, spreadOf, sumOf } from "./statistics.ts";
import type { Throughput } from "./throughput.ts";
import { receiverMemory, type WebhookRun, type WebhookRuns } from "./webhooks/rounds.ts";

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

/** A figure with a goal. */
export interface Goal {
  readonly figure: string;
  readonly goal: string;
  readonly found: Spread;
  readonly reached: boolean;
}

/** The goals of the measured figures; the median decides. */
export function goals({
  sizes,
  throughput,
  latency,
  queue,
  idle,
  starts,
  webhooks,
  routing,
  saves,
  list,
}: Results): Goal[] {
  const found: Goal[] = [];
  const atMost = (figure: string, limit: number, spread: Spread, unit = "") =>
    found.push({ figure, goal: `<= ${limit}${unit}`, found: spread, reached: spread.median <= limit });
  const atLeast = (figure: string, perSecond: number, spread: Spread) => {
    const goal = `>= ${perSecond.toLocaleString("en-US")}/s`;
    found.push({ figure, goal, found: spread, reached: spread.median >= perSecond });
  };
  if (throughput && throughput.go.length > 0) {
    const { denrei, go } = throughput;
    const ratio = (read: (round: Throughput) => number) => ratioOf(denrei.map(read), go.map(read));
    atMost(
      "wall time, Denrei (3 workers) ÷ Go",
      1.25,
      ratio((round) => round.wallSeconds),
    );
    atMost("CPU of bridge + workers + NATS ÷ CPU of the Go controller", 3, ratio(controllerCpu));
    atMost("CPU of kube-apiserver, Denrei ÷ Go", 1.05, ratio(cpuOf("kube-apiserver")));
    atMost("memory of bridge + workers + NATS ÷ memory of the Go controller", 8, ratio(controllerMemory));
    atMost("memory of bridge + workers + NATS", 380, spreadOf(denrei.map(controllerMemory)), " MB");
    const calls = spreadOf(denrei.map((round) => callsPerHikawa(round, sizes)));
    atMost("API calls per Hikawa, Denrei", 15, calls);
  }
  if (latency) {
    const p50 = (round: readonly number[]) => quantile(round, 0.5);
    for (const [pace, { denrei, go }] of Object.entries(latency).filter(([, { go }]) => go.length > 0))
      atMost(`create to first Zundoko ${pace}, p50, Denrei ÷ Go`, 1.2, ratioOf(denrei.map(p50), go.map(p50)));
  }
  if (queue) {
    // Where keys are owned, most requests end as a dropped mark; where they are free, each one runs.
    const alone = queue.find(({ mode, load }) => mode === "queue" && load === "free");
    const rate = spreadOf((alone?.runs ?? []).map((run) => run.requestsPerSecond));
    atLeast("ticket queue alone, no-op requests on 3 workers", 15_000, rate);
  }
  if (idle) {
    const name = `worker memory, from 0 to ${sizes.idle.toLocaleString("en-US")} idle Hikawas`;
    atMost(name, 5, spreadOf(workerGrowth(idle.denrei, "settled")), " MB");
    atMost(`${name}, garbage collected`, 5, spreadOf(workerGrowth(idle.denrei, "collected")), " MB");
  }
  if (starts) {
    const found = (read: (run: StartsRun) => number) => spreadOf(starts.map(read));
    const bridgeOf = (run: StartsRun) => run.all.get("bridge")?.rssMegabytes ?? Number.NaN;
    atMost(
      "worker: start to the end of the first reconcile",
      200,
      found(({ coldStart }) => coldStart),
      " ms",
    );
    atMost(
      "worker: memory after its first reconcile",
      75,
      found(({ worker }) => worker),
      " MB",
    );
    atMost(
      "bridge for one function: memory, idle",
      80,
      found(({ smallBridge }) => smallBridge),
      " MB",
    );
    atMost("bridge for all functions: memory, idle", 110, found(bridgeOf), " MB");
    atMost("all functions, smallest profile, idle: memory", 450, found(idleMegabytes), " MB");
    atMost("all functions, smallest profile, idle: CPU", 30, found(idleMillicores), " millicores");
  }
  if (webhooks) {
    const { denrei, probot } = webhooks;
    const ratio = (read: (run: WebhookRun) => number) => ratioOf(denrei.map(read), probot.map(read));
    const name = "webhooks to one gateway, 50 connections, Denrei ÷ Probot";
    const rate = ratio((run) => run.perSecond);
    found.push({ figure: `${name}: accepted/s`, goal: ">= 1.3", found: rate, reached: rate.median >= 1.3 });
    atMost(
      `${name}: p99`,
      1,
      ratio((run) => run.p99),
    );
    atMost(`${name}: memory`, 1.2, ratio(receiverMemory));
  }
  if (routing) {
    const name = `routing a push among ${sizes.remoteSyncs.toLocaleString("en-US")} RemoteSyncs`;
    atMost(`${name}, p99`, 10, spreadOf(routing.map((run) => run.p99)), " ms");
  }
  if (saves) {
    const p95 = quantile(saves, 0.95);
    atMost("denrei dev: save to the first event handled by new code, p95", 2000, spreadOf([p95]), " ms");
  }
  if (list) {
    const many = sizes.applications.toLocaleString("en-US");
    atMost(`dashboard: full list of ${many} Applications`, 1000, spreadOf(list.map(({ all }) => all)), " ms");
  }
  return found;
}
