/** The ticket queue without work to reconcile: end-to-end requests per second. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openPublisher } from "../../bus/bridge/publisher.ts";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { timersStream, workStream } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { pidOf, startProcess } from "./contender.ts";
import type { BenchEnvironment } from "./environment.ts";
import { measure, type Usage } from "./processes.ts";
import {
  busOptions,
  type Made,
  Note,
  namespace,
  noteName,
  type Order,
  orderSubject,
  type QueueMode,
  scope,
  subscription,
  type Times,
  timesSubject,
} from "./queueplan.ts";
import { sumOf } from "./statistics.ts";

/** Whether most requests find their key free, or owned because they arrive faster than they are handled. */
export type Load = "free" | "owned";

/** The figures of one run. */
export interface QueueRun {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** The share of requests that found their key owned, 0 to 1. */
  readonly ownedShare: number;
  readonly usage: ReadonlyMap<string, Usage>;
}

/** The runs of one mode under one load. */
export interface QueueSeries {
  readonly mode: QueueMode;
  readonly load: Load;
  readonly runs: readonly QueueRun[];
}

const program = fileURLToPath(new URL("./queueworker.ts", import.meta.url));
const replicas = ["worker-1", "worker-2", "worker-3"];
const keys = 1000;
/** Pending tickets: enough to fill the slots of all workers many times over, or one for every key. */
const backlogs: Record<Load, number> = { free: 200, owned: keys };
const loads: readonly Load[] = ["free", "owned"];
const orderMillis = 300_000;

/** Runs the queue under both loads on three workers, on an empty bus, `rounds` times each. */
export async function queueSeries(
  environment: BenchEnvironment,
  mode: QueueMode,
  { requests, rounds }: { readonly requests: number; readonly rounds: number },
): Promise<QueueSeries[]> {
  await environment.clearBus();
  await ensureTopology(environment.bus, busOptions, [subscription]);
  if (mode === "runtime") await publishNotes(environment);
  const workers = await connectBus({ url: environment.platform.natsUrlFor(scope.fn), name: "denrei-bench" });
  const children = await Promise.all(
    replicas.map((name) =>
      startProcess(environment, {
        name: `${mode}-${name}`,
        role: scope.fn,
        command: process.execPath,
        args: [program, mode],
        env: { DENREI_REPLICA: name },
        readyLine: /"msg":"worker ready"/,
      }),
    ),
  );
  try {
    const pids = new Map([
      ...children.map((child, at) => [replicas[at] ?? "", pidOf(child)] as const),
      ["nats-server", pidOf(environment.platform.nats)] as const,
    ]);
    await drained(environment);
    const series: QueueSeries[] = [];
    for (const load of loads) {
      const runs: QueueRun[] = [];
      for (let round = 0; round < rounds; round++) {
        const usage = measure(pids);
        const run = await runOnce(environment, workers, requests, backlogs[load]);
        runs.push({ ...run, usage: usage() });
        // The runtime has seen the one version of a note, so it may drop a later request for it.
        if (mode === "queue") await expectNothingLost(environment, workers);
      }
      series.push({ mode, load, runs });
    }
    return series;
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await workers.nc.close();
    await environment.clearBus();
  }
}

/** From the first request until no ticket, mark, or timer is left. */
async function runOnce(
  environment: BenchEnvironment,
  workers: Bus,
  requests: number,
  backlog: number,
): Promise<Omit<QueueRun, "usage">> {
  const each = Math.ceil(requests / replicas.length);
  const begun = performance.now();
  const made = await Promise.all(
    replicas.map((replica, at) => {
      const offset = Math.floor((at * keys) / replicas.length);
      const order: Order = { requests: each, keys, offset, backlog };
      return ask<Made>(environment, workers, orderSubject(replica), order);
    }),
  );
  await drained(environment);
  const seconds = (performance.now() - begun) / 1000;
  const total = each * replicas.length;
  const owned = sumOf(made.map((answer) => answer.owned));
  return { requests: total, requestsPerSecond: total / seconds, ownedShare: owned / total };
}

async function ask<Answer>(
  { aborted }: BenchEnvironment,
  workers: Bus,
  subject: string,
  what: object,
): Promise<Answer> {
  const request = workers.nc.request(subject, JSON.stringify(what), { timeout: orderMillis });
  return (await Promise.race([request, aborted])).json<Answer>();
}

/**
 * Every request is complete when both streams are empty. A message moves to the work stream before it leaves the timers' stream,
 * so the order of the two polls matters.
 */
async function drained({ bus, signal }: BenchEnvironment): Promise<void> {
  const messages = async (stream: string) => (await bus.jsm.streams.info(stream)).state.messages;
  while ((await messages(timersStream(scope.fn))) > 0 || (await messages(workStream(scope.fn))) > 0) {
    await sleep(20, undefined, { signal });
  }
}

/** Checks that a ticket of each key was started after its last request. */
async function expectNothingLost(environment: BenchEnvironment, workers: Bus): Promise<void> {
  const times = await Promise.all(
    replicas.map((replica) => ask<Times>(environment, workers, timesSubject(replica), {})),
  );
  for (let at = 0; at < keys; at++) {
    const name = noteName(at);
    const requested = Math.max(...times.map((of) => of.requested[name] ?? 0));
    const started = Math.max(...times.map((of) => of.started[name] ?? 0));
    if (started >= requested) continue;
    throw new Error(
      `lost wake-up: the last request for ${name} came ${requested - started} ms after the start of its last ticket`,
    );
  }
}

/** The runtime reads its object before it calls the function, so one must exist. */
async function publishNotes({ bus, signal }: BenchEnvironment): Promise<void> {
  const { cluster } = scope;
  const onPublished = () => undefined;
  const publisher = await openPublisher({ bus, cluster, kind: Note, signal, onPublished });
  for (let at = 0; at < keys; at++) {
    const name = noteName(at);
    const metadata = { namespace, name, uid: name, resourceVersion: "1" };
    const note = {
      apiVersion: apiVersionOf(Note),
      kind: Note.kind,
      metadata,
      spec: { text: "x".repeat(500) },
    };
    await publisher.publish("added", note, "list");
  }
  await publisher.settled();
}
