/** Many functions of one kind, on one NATS server and on three: each event reaches all of them. */
import { withCleanup } from "../../harness/cleanup.ts";
import type { Accounts } from "../environment.ts";
import { figure } from "../table.ts";
import { functionNames } from "./hostplan.ts";
import { type EventsRun, Samples } from "./load.ts";
import type { BenchMeasuring } from "./measuring.ts";
import { openScaleBus } from "./scalebus.ts";
import { paceMillis } from "./settings.ts";

/** The figures of a number of functions on a number of servers. */
export interface FunctionsRun {
  readonly functions: number;
  readonly servers: 1 | 3;
  /** As many events as the bus takes, by round. */
  readonly full: readonly EventsRun[];
  /** One event every {@link paceMillis}. */
  readonly paced: EventsRun;
}

/** The sizes. */
export interface FunctionsSizes {
  readonly functions: readonly number[];
  /** Reconciles in a round: each event causes one in each function. */
  readonly requests: number;
  readonly singles: number;
  readonly rounds: number;
}

/** The servers of a bus, and copies of each stream. */
const serverCounts = [1, 3] as const;
/** Events before the first measurement. */
const warmUp = 500;

/** Measures each number of functions on each number of servers, on a new bus. Throws if a function misses an event. */
export async function measureFunctions(
  sizes: FunctionsSizes,
  accounts: Accounts,
  measuring: Omit<BenchMeasuring, "defer">,
): Promise<FunctionsRun[]> {
  const runs: FunctionsRun[] = [];
  for (const functions of sizes.functions) {
    for (const servers of serverCounts) {
      measuring.say(`scale: ${functions} functions on ${servers} NATS servers`);
      const options = { servers, functions: functionNames(functions), accounts };
      const run = await withCleanup(measuring.signal, (defer) =>
        runFunctions(options, sizes, { ...measuring, defer }),
      );
      runs.push(run);
    }
  }
  return runs;
}

async function runFunctions(
  options: Parameters<typeof openScaleBus>[1],
  { requests, singles, rounds }: FunctionsSizes,
  measuring: BenchMeasuring,
): Promise<FunctionsRun> {
  const { functions, servers } = options;
  const scale = await openScaleBus(measuring, options);
  await Promise.all(
    functions.map((fn) => scale.startHost({ fn, name: `host-${fn}`, replicas: [`${fn}-1`] })),
  );
  const samples = await Samples.open(scale);
  await samples.run(warmUp);
  const full: EventsRun[] = [];
  for (let round = 1; round <= rounds; round++) {
    const run = await samples.run(Math.ceil(requests / functions.length));
    measuring.say(`round ${round}: ${figure(run.events / run.seconds)} events per second`);
    full.push(run);
  }
  return { functions: functions.length, servers, full, paced: await samples.run(singles, paceMillis) };
}
