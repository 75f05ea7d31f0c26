/** Many replicas of one function on one NATS server. */
import { setTimeout as sleep } from "node:timers/promises";
import { maxConnections } from "../../../deploy/authorization.ts";
import { withCleanup } from "../../harness/cleanup.ts";
import type { Accounts } from "../environment.ts";
import { measure, type Usage } from "../processes.ts";
import { figure } from "../table.ts";
import { functionNames } from "./hostplan.ts";
import { type EventsRun, type RequestsRun, Samples } from "./load.ts";
import type { BenchMeasuring } from "./measuring.ts";
import { openScaleBus, type ScaleBus } from "./scalebus.ts";
import { hostCount, idleMillis } from "./settings.ts";

/** The figures of a number of replicas. */
export interface ReplicasRun {
  readonly replicas: number;
  /** From the start of the processes until all replicas are ready. */
  readonly startSeconds: number;
  readonly idle: { readonly seconds: number; readonly usage: ReadonlyMap<string, Usage> };
  /** Events that the replicas route and reconcile, by round. */
  readonly events: readonly EventsRun[];
  /** Requests without events, by round. */
  readonly requests: readonly RequestsRun[];
}

/** The sizes. */
export interface ReplicasSizes {
  readonly replicas: readonly number[];
  /** Events, and then requests, in a round. */
  readonly requests: number;
  readonly rounds: number;
}

/** Events before the first measurement. */
const warmUp = 2000;
const restMillis = 5000;

/** Measures each number of replicas on a new bus. Throws if an event is not reconciled. */
export async function measureReplicas(
  sizes: ReplicasSizes,
  accounts: Accounts,
  measuring: Omit<BenchMeasuring, "defer">,
): Promise<ReplicasRun[]> {
  expectConnections(Math.max(...sizes.replicas));
  const runs: ReplicasRun[] = [];
  for (const replicas of sizes.replicas) {
    measuring.say(`scale: ${replicas} replicas`);
    const run = await withCleanup(measuring.signal, (defer) =>
      runReplicas(replicas, sizes, accounts, { ...measuring, defer }),
    );
    runs.push(run);
  }
  return runs;
}

/** A host has a connection of its own, and the benchmark one to it. */
function expectConnections(replicas: number): void {
  const most = maxConnections - 2 * hostCount;
  if (replicas > most)
    throw new Error(
      `expected at most ${most} replicas, found ${replicas}: NATS servers allow a function ${maxConnections} connections`,
    );
}

async function runReplicas(
  replicas: number,
  { requests, rounds }: ReplicasSizes,
  accounts: Accounts,
  measuring: BenchMeasuring,
): Promise<ReplicasRun> {
  const functions = functionNames(1);
  const scale = await openScaleBus(measuring, { servers: 1, functions, accounts });
  const begun = performance.now();
  await Promise.all(shares(replicas).map((names, at) => startShare(scale, functions[0] ?? "", names, at)));
  const startSeconds = (performance.now() - begun) / 1000;
  const samples = await Samples.open(scale);
  await samples.run(warmUp);
  const idle = await rest(scale);
  const run: ReplicasRun & { events: EventsRun[]; requests: RequestsRun[] } = {
    replicas,
    startSeconds,
    idle,
    events: [],
    requests: [],
  };
  for (let round = 1; round <= rounds; round++) {
    const routed = await samples.run(requests);
    const made = await samples.request(requests);
    const rates = [routed.events / routed.seconds, made.requests / made.seconds].map(figure);
    measuring.say(`round ${round}: ${rates[0]} events per second, ${rates[1]} requests per second`);
    run.events.push(routed);
    run.requests.push(made);
  }
  return run;
}

const startShare = (scale: ScaleBus, fn: string, replicas: string[], at: number) =>
  scale.startHost({ fn, name: `host-${at + 1}`, replicas });

/** The names of the replicas of each host. */
function shares(replicas: number): string[][] {
  const names = Array.from({ length: replicas }, (_, at) => `replica-${at + 1}`);
  return Array.from({ length: hostCount }, (_, host) => names.filter((_, at) => at % hostCount === host));
}

/** The usage of idle processes. */
async function rest({ pids, measuring: { signal } }: ScaleBus): Promise<ReplicasRun["idle"]> {
  await sleep(restMillis, undefined, { signal });
  const usage = measure(pids);
  const begun = performance.now();
  await sleep(idleMillis, undefined, { signal });
  return { seconds: (performance.now() - begun) / 1000, usage: usage() };
}
