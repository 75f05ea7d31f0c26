/** The figures with goals. The median decides whether a goal is reached. */

import {
  callsPerHikawa,
  controllerCpu,
  controllerMemory,
  cpuOf,
  idleMegabytes,
  idleMillicores,
  type Results,
  workerGrowth,
} from "./results.ts";
import type { StartsRun } from "./starts.ts";
import { quantile, ratioOf, type Spread, spreadOf } from "./statistics.ts";
import type { Throughput } from "./throughput.ts";
import { receiverMemory, type WebhookRun } from "./webhooks/rounds.ts";

/** A figure with a goal. */
export interface Goal {
  readonly figure: string;
  readonly goal: string;
  readonly found: Spread;
  readonly reached: boolean;
}

const atMost = (figure: string, limit: number, found: Spread, unit = ""): Goal => ({
  figure,
  goal: `<= ${limit}${unit}`,
  found,
  reached: found.median <= limit,
});

const atLeast = (figure: string, limit: number, found: Spread, unit = ""): Goal => ({
  figure,
  goal: `>= ${limit.toLocaleString("en-US")}${unit}`,
  found,
  reached: found.median >= limit,
});

/** The goals of the figures that were measured. */
export const goals = (results: Results): Goal[] => [
  ...throughputGoals(results),
  ...latencyGoals(results),
  ...queueGoals(results),
  ...idleGoals(results),
  ...startsGoals(results),
  ...webhookGoals(results),
  ...otherGoals(results),
];

function throughputGoals({ throughput, sizes }: Results): Goal[] {
  if (throughput === undefined || throughput.go.length === 0) return [];
  const { denrei, go } = throughput;
  const ratio = (read: (round: Throughput) => number) => ratioOf(denrei.map(read), go.map(read));
  const wall = ratio(({ wallSeconds }) => wallSeconds);
  const calls = spreadOf(denrei.map((round) => callsPerHikawa(round, sizes)));
  return [
    atMost("wall time, Denrei (3 workers) ÷ Go", 1.25, wall),
    atMost("CPU of bridge + workers + NATS ÷ CPU of the Go controller", 3, ratio(controllerCpu)),
    atMost("CPU of kube-apiserver, Denrei ÷ Go", 1.05, ratio(cpuOf("kube-apiserver"))),
    atMost("memory of bridge + workers + NATS ÷ memory of the Go controller", 8, ratio(controllerMemory)),
    atMost("memory of bridge + workers + NATS", 380, spreadOf(denrei.map(controllerMemory)), " MB"),
    atMost("API calls per Hikawa, Denrei", 15, calls),
  ];
}

function latencyGoals({ latency }: Results): Goal[] {
  const p50 = (round: readonly number[]) => quantile(round, 0.5);
  return Object.entries(latency ?? {})
    .filter(([, { go }]) => go.length > 0)
    .map(([pace, { denrei, go }]) =>
      atMost(`create to first Zundoko ${pace}, p50, Denrei ÷ Go`, 1.2, ratioOf(denrei.map(p50), go.map(p50))),
    );
}

function queueGoals({ queue }: Results): Goal[] {
  if (queue === undefined) return [];
  // Where keys are owned, most requests end as a dropped mark; where they are free, each one runs.
  const alone = queue.find(({ mode, load }) => mode === "queue" && load === "free");
  const rate = spreadOf((alone?.runs ?? []).map((run) => run.requestsPerSecond));
  return [atLeast("ticket queue alone, no-op requests on 3 workers", 15_000, rate, "/s")];
}

function idleGoals({ idle, sizes }: Results): Goal[] {
  if (idle === undefined) return [];
  const name = `worker memory, from 0 to ${sizes.idle.toLocaleString("en-US")} idle Hikawas`;
  const growth = (when: "settled" | "collected") => spreadOf(workerGrowth(idle.denrei, when));
  return [
    atMost(name, 5, growth("settled"), " MB"),
    atMost(`${name}, garbage collected`, 5, growth("collected"), " MB"),
  ];
}

function startsGoals({ starts }: Results): Goal[] {
  if (starts === undefined) return [];
  const found = (read: (run: StartsRun) => number) => spreadOf(starts.map(read));
  const bridge = found(({ all }) => all.get("bridge")?.rssMegabytes ?? Number.NaN);
  return [
    atMost(
      "worker: start to the end of the first reconcile",
      200,
      found(({ coldStart }) => coldStart),
      " ms",
    ),
    atMost(
      "worker: memory after its first reconcile",
      75,
      found(({ worker }) => worker),
      " MB",
    ),
    atMost(
      "bridge for one function, idle: memory",
      80,
      found(({ smallBridge }) => smallBridge),
      " MB",
    ),
    atMost("bridge for all functions, idle: memory", 110, bridge, " MB"),
    atMost("all functions, smallest profile, idle: memory", 450, found(idleMegabytes), " MB"),
    atMost("all functions, smallest profile, idle: CPU", 30, found(idleMillicores), " millicores"),
  ];
}

function webhookGoals({ webhooks }: Results): Goal[] {
  if (webhooks === undefined) return [];
  const { denrei, probot } = webhooks;
  const ratio = (read: (run: WebhookRun) => number) => ratioOf(denrei.map(read), probot.map(read));
  const name = "webhooks to one gateway, 50 connections, Denrei ÷ Probot";
  return [
    atLeast(
      `${name}: accepted/s`,
      1.3,
      ratio(({ perSecond }) => perSecond),
    ),
    atMost(
      `${name}: p99`,
      1,
      ratio(({ p99 }) => p99),
    ),
    atMost(`${name}: memory`, 1.2, ratio(receiverMemory)),
  ];
}

/** The goals of pushes, of saved files, and of the dashboard. */
function otherGoals({ routing, saves, list, sizes }: Results): Goal[] {
  const found: Goal[] = [];
  if (routing) {
    const name = `routing a push among ${sizes.remoteSyncs.toLocaleString("en-US")} RemoteSyncs`;
    found.push(atMost(`${name}, p99`, 10, spreadOf(routing.map(({ p99 }) => p99)), " ms"));
  }
  if (saves) {
    const p95 = spreadOf([quantile(saves, 0.95)]);
    found.push(atMost("denrei dev: save to the first event handled by new code, p95", 2000, p95, " ms"));
  }
  if (list) {
    const name = `dashboard: full list of ${sizes.applications.toLocaleString("en-US")} Applications`;
    found.push(atMost(name, 1000, spreadOf(list.map(({ all }) => all)), " ms"));
  }
  return found;
}
