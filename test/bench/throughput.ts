/** Many Hikawas at once: wall time, API calls, CPU, and memory. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Calls, callsBetween, readCalls } from "./apicalls.ts";
import type { Running } from "./contender.ts";
import type { BenchEnvironment } from "./environment.ts";
import { createHikawas, isKiyoshied, namesOf, waitForHikawas } from "./hikawas.ts";
import { measure, measureOthers, type Usage } from "./processes.ts";
import { verifyHikawas } from "./verify.ts";

/** One contender's figures of one round. */
export interface Throughput {
  /** From the first create until the last Hikawa is seen with `status.kiyoshied`. */
  readonly wallSeconds: number;
  /** Calls made by the controller, by verb and resource. */
  readonly calls: Calls;
  /** By role: the contender's own processes, `kube-apiserver`, `etcd`, and the `benchmark` itself. */
  readonly usage: ReadonlyMap<string, Usage>;
  /** CPU time of everything else on the machine during the run: other processes, and the hypervisor. */
  readonly othersCpuSeconds: number;
}

/** Calls and CPU are counted for this long after the end, to include deferred work. */
const tailMillis = 2000;

/** Has a contender complete `count` Hikawas, and verifies each. */
export async function throughput(
  environment: BenchEnvironment,
  running: Running,
  count: number,
): Promise<Throughput> {
  const { connection } = environment.client;
  const names = namesOf("song", count);
  const pids = new Map([...running.pids, ...environment.servers(), ["benchmark", process.pid]]);
  const waiting = await waitForHikawas(environment, names, isKiyoshied);
  try {
    const callsBefore = await readCalls(connection);
    const others = measureOthers(pids);
    const usage = measure(pids);
    const begun = performance.now();
    await createHikawas(environment, names, 0);
    await waiting.all();
    const wallSeconds = (performance.now() - begun) / 1000;
    await sleep(tailMillis, undefined, { signal: environment.signal });
    const used = usage();
    const othersCpuSeconds = others();
    const own = new Map([["POST hikawas", count]]);
    const calls = callsBetween(callsBefore, await readCalls(connection), own);
    await verifyHikawas(environment, names);
    return { wallSeconds, calls, usage: used, othersCpuSeconds };
  } finally {
    waiting.stop();
  }
}
