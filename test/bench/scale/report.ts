/** The section "Scale" of the report: a heading, a table, and the method of each measurement that ran. */
import type { Footprint } from "../footprint.ts";
import type { Usage } from "../processes.ts";
import { quantile, spreadOf, sumOf } from "../statistics.ts";
import { figure, roundsText, spreadText, table } from "../table.ts";
import { objectBytes } from "./crowd.ts";
import type { FunctionsRun } from "./functions.ts";
import type { EventsRun, RequestsRun } from "./load.ts";
import type { NamespacesRun } from "./namespaces.ts";
import type { ObjectsRun } from "./objects.ts";
import type { ReplicasRun } from "./replicas.ts";
import type { ScaleResults, ScaleSizes } from "./scale.ts";
import { hostCount, idleMillis, paceMillis, quietMillis } from "./settings.ts";

/** A measurement in the section. */
export interface ScalePart {
  readonly title: string;
  /** Markdown. */
  readonly body: string;
}

/** The title of the section. */
export const scaleTitle = "Scale";

/** The first paragraph of the section. */
export const scaleIntroduction =
  "How far one machine carries Denrei, by the number of objects, opted-in namespaces, functions, and replicas. All processes and servers share the machine.";

/** The measurements that ran. */
export const scaleParts = ({
  sizes,
  objects,
  namespaces,
  functions,
  replicas,
}: ScaleResults): ScalePart[] => [
  ...(objects ? [{ title: "Objects", body: objectsBody(objects) }] : []),
  ...(namespaces ? [{ title: "Opted-in namespaces", body: namespacesBody(namespaces) }] : []),
  ...(functions ? [{ title: "Functions", body: functionsBody(functions, sizes) }] : []),
  ...(replicas ? [{ title: "Replicas", body: replicasBody(replicas, sizes) }] : []),
];

/** The section's text. */
export const scaleText = (parts: readonly ScalePart[]): string =>
  [scaleIntroduction, ...parts.map(({ title, body }) => `### ${title}\n\n${body}`)].join("\n\n");

const many = (count: number): string => count.toLocaleString("en-US");

/** A row with one figure for each run. */
const rowOf =
  <Run>(runs: readonly Run[]) =>
  (name: string, read: (run: Run) => number): string[] => [name, ...runs.map((run) => figure(read(run)))];

/** Resident memory after a garbage collection, and the peak of the process. */
const memoryText = ({ collected, peak }: Footprint): string => `${figure(collected)} (${figure(peak)})`;

function objectsBody(runs: readonly ObjectsRun[]): string {
  const row = rowOf(runs);
  const memory = (name: string, read: (run: ObjectsRun) => Footprint) => [
    `${name}: collected (peak), MB`,
    ...runs.map((run) => memoryText(read(run))),
  ];
  const perObject = (megabytes: (run: ObjectsRun) => number) => (run: ObjectsRun) =>
    (megabytes(run) * 1e6) / run.objects;
  const rows = [
    row("created, published, and reconciled per second", (run) => run.createdPerSecond),
    memory("bridge, no objects", ({ empty }) => empty.bridge),
    memory("bridge, all objects", ({ full }) => full.bridge),
    row(
      "– growth per object, collected, B",
      perObject(({ empty, full }) => full.bridge.collected - empty.bridge.collected),
    ),
    row("start that resumes, s", ({ restarts }) => restarts.resume.seconds),
    memory("bridge that resumed", ({ restarts }) => restarts.resume.memory),
    row("start with an empty bus, until all are published, s", ({ restarts }) => restarts.list.seconds),
    memory("bridge that listed", ({ restarts }) => restarts.list.memory),
    memory("worker, all objects", ({ full }) => full.worker),
    row("NATS, no objects, MB", ({ empty }) => empty.nats),
    row("NATS, all objects, MB", ({ full }) => full.nats),
    row("NATS disk, all objects, MB", ({ full }) => full.disk),
    row("– in OBJECTS, B per object", ({ full, objects }) => full.stored / objects),
  ];
  const method = `One bridge, one worker of a function that does nothing, and finished Hikawas of ${many(objectBytes)} bytes, which cause no writes. Each number
of objects has a control plane of its own. A quarter as many are created and deleted before, so that compiled code and grown buffers do not
count. A second bridge resumes at the position of the first. A third one finds an empty bus, and lists and publishes all objects.
"collected" is resident memory after a forced garbage collection, "peak" the highest since the start of the process. A bridge that misses an
object ends the run.`;
  const head = ["objects", ...runs.map(({ objects }) => many(objects))];
  return `${table(head, rows)}\n\n${method}`;
}

function namespacesBody(runs: readonly NamespacesRun[]): string {
  const row = rowOf(runs);
  const rows = [
    row("start until all are watched, s", (run) => run.startSeconds),
    row("bus writes while idle, per s", (run) => run.writesPerSecond),
    ["bridge: collected (peak), MB", ...runs.map(({ memory }) => memoryText(memory))],
    row("a change in each, until the last is published, s", (run) => run.changeSeconds),
    row("takeover: kill until all are watched again, s", (run) => run.takeoverSeconds),
  ];
  const method = `One bridge, and a Secret in each namespace. Writes are those of leases and positions, counted for ${quietMillis / 1000} s. Then a second bridge starts, and
the first is killed. A list by the second bridge, or a missing event, ends the run.`;
  const head = ["namespaces", ...runs.map(({ namespaces }) => many(namespaces))];
  return `${table(head, rows)}\n\n${method}`;
}

/** Microseconds of CPU of processes, per reconcile. */
const cpuPer = (usage: ReadonlyMap<string, Usage>, roles: RegExp, count: number): number =>
  (sumOf([...usage].filter(([role]) => roles.test(role)).map(([, { cpuSeconds }]) => cpuSeconds)) / count) *
  1e6;

const median = <Run>(runs: readonly Run[], read: (run: Run) => number): string =>
  spreadText(spreadOf(runs.map(read)));

function functionsBody(runs: readonly FunctionsRun[], sizes: ScaleSizes): string {
  const cpu = (roles: RegExp) => (run: EventsRun) => cpuPer(run.usage, roles, run.events * run.functions);
  const rows = runs.map(({ functions, servers, full, paced }) => [
    `${functions}, ${servers}`,
    median(full, ({ events, seconds }) => events / seconds),
    median(full, (run) => (run.events * run.functions) / run.seconds),
    median(full, cpu(/^host-/)),
    median(full, cpu(/^nats-/)),
    ...[0.5, 0.99].map((share) => figure(quantile(paced.each, share))),
    ...[0.5, 0.99].map((share) => figure(quantile(paced.last, share))),
  ]);
  const method = `All functions subscribe to one kind, so each event reaches all of them, and each has one worker process of its own. With three NATS servers,
each stream has three copies. The benchmark publishes objects as a bridge would; there is no API server, and a reconcile only
records the time. "events/s" is from the first publish to the last reconcile of ${many(sizes.scaleRequests)} reconciles, published as fast as the bus stores
them, in ${roundsText(sizes.scaleRounds)}. CPU is per event and function; with three servers, it is the sum of all three. Latency is from a publish to the reconcile of each function, and to the last
of them, with one event every ${paceMillis} ms, ${sizes.scaleSingles} times. A missing reconcile ends the run.`;
  return `${table(
    [
      "functions, NATS servers",
      "events/s",
      "reconciles/s",
      "CPU, workers, µs",
      "CPU, NATS, µs",
      "each, p50, ms",
      "each, p99, ms",
      "last, p50, ms",
      "last, p99, ms",
    ],
    rows,
  )}\n\n${method}`;
}

function replicasBody(runs: readonly ReplicasRun[], sizes: ScaleSizes): string {
  const server = /^nats-/;
  const hosts = /^host-/;
  const cells = (name: string, read: (run: ReplicasRun) => string) => [name, ...runs.map(read)];
  const idle = (roles: RegExp) => (run: ReplicasRun) =>
    cpuPer(run.idle.usage, roles, run.idle.seconds * 1000);
  const memory = ({ idle: { usage } }: ReplicasRun) => usage.get("nats-1")?.rssMegabytes ?? Number.NaN;
  const routed = (read: (run: EventsRun) => number) => (run: ReplicasRun) => median(run.events, read);
  const requested = (read: (run: RequestsRun) => number) => (run: ReplicasRun) => median(run.requests, read);
  const row = rowOf(runs);
  const rows = [
    cells(
      "routed and reconciled, events/s",
      routed(({ events, seconds }) => events / seconds),
    ),
    cells(
      "– published, events/s",
      routed(({ events, publishSeconds }) => events / publishSeconds),
    ),
    cells(
      "– CPU, NATS, µs/event",
      routed((run) => cpuPer(run.usage, server, run.events)),
    ),
    cells(
      "– CPU, workers, µs/event",
      routed((run) => cpuPer(run.usage, hosts, run.events)),
    ),
    cells(
      "tickets, requests/s",
      requested(({ requests, seconds }) => requests / seconds),
    ),
    cells(
      "– key already owned, %",
      requested(({ ownedShare }) => ownedShare * 100),
    ),
    cells(
      "– CPU, NATS, µs/request",
      requested((run) => cpuPer(run.usage, server, run.requests)),
    ),
    cells(
      "– CPU, workers, µs/request",
      requested((run) => cpuPer(run.usage, hosts, run.requests)),
    ),
    row("idle: CPU, NATS, millicores", idle(server)),
    row("– per replica", (run) => idle(server)(run) / run.replicas),
    row("idle: CPU, workers, millicores", idle(hosts)),
    row("idle: memory, NATS, MB", memory),
    row("start of all replicas, s", (run) => run.startSeconds),
  ];
  const method = `Replicas of one function on one NATS server: whole workers, each with its own connection and pulls, in ${hostCount} processes. So a process is shared, and
its memory and CPU are not those of separate processes; those of NATS are. "routed and reconciled" publishes ${many(sizes.scaleRequests)} new objects as a bridge would,
without an API server. "tickets" makes as many requests from all ${hostCount} processes for 1,000 keys, and pauses while 200 tickets wait, as in
[the ticket queue](#ticket-queue-without-work). Both run in ${roundsText(sizes.scaleRounds)}; idle is ${idleMillis / 1000} s before them. A missing reconcile ends the run.`;
  return `${table(["replicas", ...runs.map(({ replicas }) => many(replicas))], rows)}\n\n${method}`;
}
