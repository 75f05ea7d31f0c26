/** The tables: for the terminal and for docs/benchmarks.md. */
import type { Side } from "./contender.ts";
import type { Idle } from "./idle.ts";
import type { Usage } from "./processes.ts";
import type { QueueRun, QueueSeries } from "./queue.ts";
import { callsPerHikawa, controllerCpu, goals, ownUsage, type Results } from "./results.ts";
import { quantile, ratioOf, spreadOf, sumOf } from "./statistics.ts";
import { figure, spreadText, table } from "./table.ts";
import type { Throughput } from "./throughput.ts";

/** A part of the report. */
export interface Section {
  readonly title: string;
  /** Markdown. */
  readonly body: string;
}

/** The sections of the parts that were run. */
export function sections(results: Results): Section[] {
  const { throughput, latency, queue, idle, sizes } = results;
  return [
    { title: "Goals", body: goalTable(results) },
    ...(throughput
      ? [
          { title: `${sizes.hikawas} Hikawas at once`, body: throughputTable(results, throughput) },
          { title: "API calls per Hikawa", body: callTable(results, throughput) },
        ]
      : []),
    ...(latency
      ? [{ title: "One Hikawa at a time: create to first Zundoko", body: latencyTable(latency) }]
      : []),
    ...(queue ? [{ title: "Ticket queue without work", body: queueTable(queue) }] : []),
    ...(idle ? [{ title: "Memory with idle Hikawas", body: idleTable(idle) }] : []),
    { title: "Machine", body: table(["", ""], results.machine) },
  ];
}

const goalTable = (results: Results): string =>
  table(
    ["figure", "goal", "found", "reached"],
    goals(results).map(({ figure: name, goal, found, reached }) => [
      name,
      goal,
      spreadText(found),
      reached ? "yes" : "no",
    ]),
  );

function throughputTable({ sizes }: Results, rounds: NonNullable<Results["throughput"]>): string {
  const row = (name: string, read: (round: Throughput) => number): string[] => {
    const ours = rounds.denrei.map(read);
    const theirs = rounds.go.map(read);
    const none = [...ours, ...theirs].some(Number.isNaN);
    const text = (values: number[]) => (values.some(Number.isNaN) ? "" : spreadText(spreadOf(values)));
    return [name, text(ours), text(theirs), none ? "" : spreadText(ratioOf(ours, theirs))];
  };
  const cpu = (role: string) => (round: Throughput) => round.usage.get(role)?.cpuSeconds ?? Number.NaN;
  const own = (read: (used: Usage) => number) => (round: Throughput) =>
    sumOf(ownUsage(round.usage).map(read));
  const roles = [...(rounds.denrei[0]?.usage.keys() ?? [])];
  const ours = roles.filter((role) => /^(bridge|worker|nats)/.test(role));
  const all = (round: Throughput) => sumOf([...round.usage.values()].map(({ cpuSeconds }) => cpuSeconds));
  return table(
    ["", "ours", "Go", "ours ÷ Go"],
    [
      row("wall time, s", (round) => round.wallSeconds),
      row("API calls per Hikawa", (round) => callsPerHikawa(round, sizes)),
      row("CPU, controller, s", controllerCpu),
      ...ours.map((role) => row(`– ${role}`, cpu(role))),
      ...["kube-apiserver", "etcd", "benchmark"].map((role) => row(`CPU, ${role}, s`, cpu(role))),
      row("CPU, all of these, s", all),
      row("CPU, everybody else on the machine, s", (round) => round.othersCpuSeconds).with(3, ""),
      row(
        "memory at the end, controller, MB",
        own(({ rssMegabytes }) => rssMegabytes),
      ),
      ...ours.map((role) => row(`– ${role}`, (round) => round.usage.get(role)?.rssMegabytes ?? Number.NaN)),
      row(
        "memory at the most, controller, MB",
        own(({ peakMegabytes }) => peakMegabytes),
      ),
    ],
  );
}

function callTable({ sizes }: Results, rounds: NonNullable<Results["throughput"]>): string {
  const names = new Set([...rounds.denrei, ...rounds.go].flatMap(({ calls }) => [...calls.keys()]));
  const spread = (side: Side, call: string) =>
    spreadOf(rounds[side].map(({ calls }) => (calls.get(call) ?? 0) / sizes.hikawas));
  // A watch that was renewed, say: it counts, but a row of zeros tells nothing.
  const rare = (call: string) => Math.max(spread("denrei", call).max, spread("go", call).max) < 0.005;
  return table(
    ["call", "ours", "Go"],
    [...names]
      .filter((call) => !rare(call))
      .sort()
      .map((call) => [call, spreadText(spread("denrei", call)), spreadText(spread("go", call))]),
  );
}

function latencyTable(latency: NonNullable<Results["latency"]>): string {
  return table(
    ["of all rounds together, ms", "ours", "Go", "ours ÷ Go"],
    Object.entries(latency).flatMap(([pace, { denrei, go }]) =>
      [0.5, 0.95, 0.99].map((share) => {
        const [ours, theirs] = [quantile(denrei.flat(), share), quantile(go.flat(), share)];
        return [`${pace}, p${share * 100}`, figure(ours), figure(theirs), figure(ours / theirs)];
      }),
    ),
  );
}

function queueTable(series: readonly QueueSeries[]): string {
  const names = { queue: "queue alone", runtime: "through the worker runtime" } as const;
  const found = { free: "keys mostly free", owned: "keys mostly owned" } as const;
  return table(
    ["", "requests/s", "found the key owned, %", "CPU, workers, µs/request", "CPU, NATS, µs/request"],
    series.map(({ mode, load, runs }) => {
      const text = (read: (run: QueueRun) => number) => spreadText(spreadOf(runs.map(read)));
      const cpu = (roles: RegExp) => (run: QueueRun) => {
        const used = [...run.usage].filter(([role]) => roles.test(role));
        return (sumOf(used.map(([, { cpuSeconds }]) => cpuSeconds)) / run.requests) * 1e6;
      };
      return [
        `${names[mode]}, ${found[load]}`,
        text(({ requestsPerSecond }) => requestsPerSecond),
        text(({ ownedShare }) => ownedShare * 100),
        text(cpu(/^worker/)),
        text(cpu(/^nats-server$/)),
      ];
    }),
  );
}

function idleTable(sides: NonNullable<Results["idle"]>): string {
  const rows = [sides.denrei, sides.go].flatMap(({ side, started, empty, full }) =>
    [...started.keys()].map((role) => {
      const growth = (when: keyof Idle): string[] => {
        const from = empty[when].get(role) ?? Number.NaN;
        const to = full[when].get(role) ?? Number.NaN;
        return [figure(from), figure(to), figure(to - from)];
      };
      const name = side === "go" ? "Go controller" : role;
      return [name, figure(started.get(role) ?? Number.NaN), ...growth("settled"), ...growth("collected")];
    }),
  );
  const columns = ["no Hikawa", "all idle", "growth"];
  const collected = columns.map((column) => `${column}, collected`);
  return table(["MB", "started", ...columns, ...collected], rows);
}
