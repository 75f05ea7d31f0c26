/** Result tables for the terminal and for docs/benchmarks.md. */
import { type Side, sideNames, sides } from "./contender.ts";
import type { ListOpening } from "./dashboard.ts";
import { goals } from "./goals.ts";
import type { Idle } from "./idle.ts";
import type { Usage } from "./processes.ts";
import type { QueueRun, QueueSeries } from "./queue.ts";
import {
  callsPerHikawa,
  controllerCpu,
  controllerMemory,
  cpuOf,
  idleMegabytes,
  idleMillicores,
  ownUsage,
  type Results,
} from "./results.ts";
import { perRepository, type RoutingRun } from "./routing.ts";
import { scaleParts, scaleText, scaleTitle } from "./scale/report.ts";
import type { StartsRun } from "./starts.ts";
import { quantile, ratioOf, spreadOf, sumOf } from "./statistics.ts";
import { figure, spreadText, table } from "./table.ts";
import type { Throughput } from "./throughput.ts";
import { receiverRole, type WebhookRun, type WebhookRuns } from "./webhooks/rounds.ts";

/** A part of the report. */
export interface Section {
  readonly title: string;
  /** Markdown. */
  readonly body: string;
  /** The number of measurements, if not in rounds. */
  readonly sample?: string;
}

/** The sections of the parts that ran. */
export function sections(results: Results): Section[] {
  const { throughput, latency, queue, idle, starts, webhooks, routing, saves, list, scale, sizes } = results;
  return [
    { title: "Goals", body: goalTable(results) },
    ...(throughput
      ? [
          ...mainComparisons(throughput).map((other) => ({
            title: `${sizes.hikawas} Hikawas at once${other === "go" ? "" : `, against ${sideNames[other]}`}`,
            body: throughputTable(results, throughput, other),
          })),
          { title: "API calls per Hikawa", body: callTable(results, throughput) },
        ]
      : []),
    ...(latency
      ? [{ title: "One Hikawa at a time: create to first Zundoko", body: latencyTable(latency) }]
      : []),
    ...(throughput && throughput.goOneWrite.length > 0
      ? [
          {
            title: `${sizes.hikawas} Hikawas at once, against Go with one write per reconcile`,
            body: oneWriteTable(results, throughput),
          },
        ]
      : []),
    ...(queue ? [{ title: "Ticket queue without work", body: queueTable(queue) }] : []),
    ...(idle ? [{ title: "Memory with idle Hikawas", body: idleTable(idle) }] : []),
    ...(starts ? [{ title: "Starts and idle processes", body: startsTable(starts) }] : []),
    ...(webhooks ? [{ title: "Webhooks to one gateway", body: webhookTable(webhooks) }] : []),
    ...(routing ? [{ title: "Pushes to their RemoteSyncs", body: routingTable(results, routing) }] : []),
    ...(saves
      ? [{ title: "Saves in denrei dev", body: saveTable(saves), sample: `${saves.length} saves` }]
      : []),
    ...(list
      ? [
          {
            title: "The list of Applications on the dashboard",
            body: listTable(results, list),
            sample: `${list.length} openings`,
          },
        ]
      : []),
    ...(scale ? [{ title: scaleTitle, body: scaleText(scaleParts(scale)) }] : []),
    { title: "Machine", body: table(["", ""], [...results.machine]) },
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

/** A row with both sides and their ratio. NaN, a missing figure, and a side that did not run leave the cell empty. */
function comparedRow(name: string, ours: readonly number[], theirs: readonly number[]): string[] {
  const isMissing = (values: readonly number[]) => values.length === 0 || values.some(Number.isNaN);
  const text = (values: readonly number[]) => (isMissing(values) ? "" : spreadText(spreadOf(values)));
  const none = isMissing(ours) || isMissing(theirs);
  return [name, text(ours), text(theirs), none ? "" : spreadText(ratioOf(ours, theirs))];
}

type Rounds = NonNullable<Results["throughput"]>;

/** The sides that ran. */
const sidesIn = (rounds: Readonly<Record<Side, readonly unknown[]>>): Side[] =>
  sides.filter((side) => rounds[side].length > 0);

/** Rows that compare Denrei with another side. */
const comparison =
  (rounds: Rounds, other: Side) =>
  (name: string, read: (round: Throughput) => number): string[] =>
    comparedRow(name, rounds.denrei.map(read), rounds[other].map(read));

/** The sides that make the same API calls as Denrei and ran beside it; without any, the empty column of Go. */
function mainComparisons(rounds: Rounds): Side[] {
  const ran = (["go", "before"] as const).filter((side) => rounds[side].length > 0);
  return ran.length === 0 ? ["go"] : ran;
}

function throughputTable({ sizes }: Results, rounds: Rounds, other: Side): string {
  const row = comparison(rounds, other);
  const own = (read: (used: Usage) => number) => (round: Throughput) =>
    sumOf(ownUsage(round.usage).map(read));
  const roles = [...(rounds.denrei[0]?.usage.keys() ?? [])];
  const ours = roles.filter((role) => /^(bridge|worker|nats)/.test(role));
  const all = (round: Throughput) => sumOf([...round.usage.values()].map(({ cpuSeconds }) => cpuSeconds));
  return table(
    ["", "Denrei", sideNames[other], `Denrei ÷ ${sideNames[other]}`],
    [
      row("wall time, s", (round) => round.wallSeconds),
      row("API calls per Hikawa", (round) => callsPerHikawa(round, sizes)),
      row("CPU, controller, s", controllerCpu),
      ...ours.map((role) => row(`– ${role}`, cpuOf(role))),
      ...["kube-apiserver", "etcd", "benchmark"].map((role) => row(`CPU, ${role}, s`, cpuOf(role))),
      row("CPU, total, s", all),
      row("CPU, rest of the machine, s", (round) => round.othersCpuSeconds).with(3, ""),
      row("memory at the end, controller, MB", controllerMemory),
      ...ours.map((role) => row(`– ${role}`, (round) => round.usage.get(role)?.rssMegabytes ?? Number.NaN)),
      row(
        "peak memory, controller, MB",
        own(({ peakMegabytes }) => peakMegabytes),
      ),
    ],
  );
}

/** The main figures against the usual way to write such an operator. */
function oneWriteTable({ sizes }: Results, rounds: Rounds): string {
  const row = comparison(rounds, "goOneWrite");
  return table(
    ["", "Denrei", sideNames.goOneWrite, "ratio"],
    [
      row("wall time, s", (round) => round.wallSeconds),
      row("API calls per Hikawa", (round) => callsPerHikawa(round, sizes)),
      row("CPU, controller, s", controllerCpu),
      row("CPU, kube-apiserver, s", cpuOf("kube-apiserver")),
      row("CPU, etcd, s", cpuOf("etcd")),
      row("memory at the end, controller, MB", controllerMemory),
    ],
  );
}

function callTable({ sizes }: Results, rounds: Rounds): string {
  const sides = sidesIn(rounds);
  const names = new Set(sides.flatMap((side) => rounds[side]).flatMap(({ calls }) => [...calls.keys()]));
  const spread = (side: Side, call: string) =>
    spreadOf(rounds[side].map(({ calls }) => (calls.get(call) ?? 0) / sizes.hikawas));
  // Such as a renewed watch: the row would show zeros.
  const rare = (call: string) => Math.max(...sides.map((side) => spread(side, call).max)) < 0.005;
  return table(
    ["call", ...sides.map((side) => sideNames[side])],
    [...names]
      .filter((call) => !rare(call))
      .sort()
      .map((call) => [call, ...sides.map((side) => spreadText(spread(side, call)))]),
  );
}

function latencyTable(latency: NonNullable<Results["latency"]>): string {
  const sides = sidesIn(latency["from rest"]);
  const others = sides.filter((side) => side === "before" || side === "go");
  return table(
    [
      "all rounds, ms",
      ...sides.map((side) => sideNames[side]),
      ...others.map((other) => `Denrei ÷ ${sideNames[other]}`),
    ],
    Object.entries(latency).flatMap(([pace, found]) =>
      [0.5, 0.95, 0.99].map((share) => {
        const at = (side: Side) => quantile(found[side].flat(), share);
        return [
          `${pace}, p${share * 100}`,
          ...sides.map((side) => figure(at(side))),
          ...others.map((other) => figure(at("denrei") / at(other))),
        ];
      }),
    ),
  );
}

function queueTable(series: readonly QueueSeries[]): string {
  const names = { queue: "queue alone", runtime: "through the worker runtime" } as const;
  const found = { free: "keys mostly free", owned: "keys mostly owned" } as const;
  return table(
    ["", "requests/s", "key already owned, %", "CPU, workers, µs/request", "CPU, NATS, µs/request"],
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

function startsTable(runs: readonly StartsRun[]): string {
  const row = (name: string, read: (run: StartsRun) => number) => [
    name,
    spreadText(spreadOf(runs.map(read))),
  ];
  const roles = [...(runs[0]?.all.keys() ?? [])];
  return table(
    ["", "Denrei"],
    [
      row("worker: start to the end of the first reconcile, ms", ({ coldStart }) => coldStart),
      row("worker: memory after it, MB", ({ worker }) => worker),
      row("bridge for one function, idle: memory, MB", ({ smallBridge }) => smallBridge),
      row("all functions, idle: memory, MB", idleMegabytes),
      ...roles.map((role) => row(`– ${role}`, ({ all }) => all.get(role)?.rssMegabytes ?? Number.NaN)),
      row("all functions, idle: CPU, millicores", idleMillicores),
      ...roles.map((role) =>
        row(
          `– ${role}`,
          ({ all, idleSeconds }) => ((all.get(role)?.cpuSeconds ?? Number.NaN) / idleSeconds) * 1000,
        ),
      ),
    ],
  );
}

function webhookTable({ denrei, probot }: WebhookRuns): string {
  const row = (name: string, read: (run: WebhookRun) => number): string[] =>
    comparedRow(name, denrei.map(read), probot.map(read));
  const used =
    (roles: RegExp, read: (used: Usage, run: WebhookRun) => number) =>
    (run: WebhookRun): number => {
      const all = [...run.usage].filter(([role]) => roles.test(role));
      return all.length === 0 ? Number.NaN : sumOf(all.map(([, one]) => read(one, run)));
    };
  const cpu = ({ cpuSeconds }: Usage, { deliveries }: WebhookRun) => (cpuSeconds / deliveries) * 1e6;
  const memory = ({ rssMegabytes }: Usage) => rssMegabytes;
  return table(
    ["", "Denrei", "Probot", "Denrei ÷ Probot"],
    [
      row("accepted/s", (run) => run.perSecond),
      row("response time, p50, ms", (run) => run.p50),
      row("response time, p99, ms", (run) => run.p99),
      row("accepted in total", (run) => run.accepted).with(3, ""),
      row("– stored in the stream", (run) => run.kept ?? Number.NaN),
      row("CPU, gateway or Probot, µs/delivery", used(receiverRole, cpu)),
      row("CPU, nats-server, µs/delivery", used(/^nats-server$/, cpu)),
      row("CPU, load generator, µs/delivery", used(/^generator$/, cpu)),
      row("CPU, rest of the machine, s", (run) => run.othersCpuSeconds).with(3, ""),
      row("memory at the end, gateway or Probot, MB", used(receiverRole, memory)),
      row("memory at the end, nats-server, MB", used(/^nats-server$/, memory)),
    ],
  );
}

function routingTable({ sizes }: Results, runs: readonly RoutingRun[]): string {
  const text = (read: (run: RoutingRun) => number) => spreadText(spreadOf(runs.map(read)));
  const repositories = Math.ceil(sizes.remoteSyncs / perRepository).toLocaleString("en-US");
  return table(
    ["", `${sizes.remoteSyncs.toLocaleString("en-US")} RemoteSyncs, ${repositories} repositories`],
    [
      ["pushes per round", text(({ pushes }) => pushes)],
      ["requests per push", text(({ requests, pushes }) => requests / pushes)],
      ["routed after, p50, ms", text(({ p50 }) => p50)],
      ["routed after, p99, ms", text(({ p99 }) => p99)],
    ],
  );
}

const saveTable = (saves: readonly number[]): string =>
  table(
    ["save to the first event handled by new code", "ms"],
    [
      ["p50", figure(quantile(saves, 0.5))],
      ["p95", figure(quantile(saves, 0.95))],
      ["slowest", figure(Math.max(...saves))],
    ],
  );

function listTable({ sizes }: Results, list: readonly ListOpening[]): string {
  const row = (name: string, values: readonly number[]) => [
    name,
    figure(quantile(values, 0.5)),
    figure(quantile(values, 0.95)),
  ];
  return table(
    [`${sizes.applications.toLocaleString("en-US")} Applications`, "p50, ms", "p95, ms"],
    [
      row(
        "first row shown",
        list.map(({ first }) => first),
      ),
      row(
        "all rows shown",
        list.map(({ all }) => all),
      ),
    ],
  );
}
