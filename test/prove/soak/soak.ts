/**
 * Does memory grow? The deployed platform carries a steady load, and the memory of every process is sampled.
 *
 * The noise of V8's heap is larger than a small leak, so a Node process is judged by its memory after a collection that is forced
 * before each sample: it stays flat without a leak. Resident memory is also reported, and is the measure for the NATS server. Growth
 * counts as a leak only if the whole confidence interval of its slope is above the limit.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { denrei } from "../../bench/denrei.ts";
import { type BenchEnvironment, openBenchEnvironment } from "../../bench/environment.ts";
import { type Check, type Figure, figure } from "../scenario.ts";
import { startLoad } from "./load.ts";
import { MemoryGrowth, MemorySamples } from "./memory.ts";

/** How to soak. */
export interface SoakOptions {
  readonly minutes: number;
  /** Hikawas per second. */
  readonly perSecond: number;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The result. */
export interface Soaked {
  readonly checks: readonly Check[];
  readonly figures: readonly Figure[];
}

const sampleMillis = 1000;
/** Compiled code, pools, and short-lived caches fill up before the measurement. */
const warmShare = 1 / 3;

/** Runs the soak. Throws if a process ends unexpectedly. */
export async function soak({ minutes, perSecond, say, signal }: SoakOptions): Promise<Soaked> {
  const stopping = new AbortController();
  const abort = () => stopping.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  const environment = await openBenchEnvironment(stopping);
  try {
    return await measure(environment, { minutes, perSecond, say });
  } finally {
    await environment.stop();
    signal.removeEventListener("abort", abort);
  }
}

async function measure(
  environment: BenchEnvironment,
  { minutes, perSecond, say }: Omit<SoakOptions, "signal">,
): Promise<Soaked> {
  const running = await denrei(environment, { profiler: "profiler" }).start("soak");
  await running.settled();
  const load = await startLoad(environment, perSecond);
  const memory = new MemorySamples(running, new Map([...running.pids, ...environment.servers()]));
  const warmSeconds = minutes * 60 * warmShare;
  let warmCompleted = 0;
  let warmMessages: number | undefined;
  for (let tick = 1; memory.seconds() < minutes * 60; tick++) {
    const untilTick = Math.max(0, tick * sampleMillis - memory.seconds() * 1000);
    await sleep(untilTick, undefined, { signal: environment.signal });
    if (memory.seconds() < warmSeconds) warmCompleted = load.completed;
    else warmMessages ??= await messagesOf(environment);
    await memory.sample();
    if (tick % 60 === 0) say(`${figure(tick / 60)} min, ${figure(load.completed)} Hikawas completed`);
  }
  const completed = load.completed - warmCompleted;
  const rate = completed / (memory.seconds() - warmSeconds);
  const { open, skipped } = load;
  const messages = await messagesOf(environment);
  await load.stop();
  await running.stop();

  const growth = new MemoryGrowth(memory, warmSeconds);
  // A busy machine carries less load, and leaks less. Far below this rate the run finds nothing.
  const least = perSecond / 10;
  return {
    checks: [
      ...growth.checks((minutes * (1 - warmShare)) / 60),
      {
        what: "completed Hikawas a second",
        limit: `≥ ${figure(least)}`,
        found: figure(rate),
        holds: rate >= least,
      },
    ],
    figures: [
      {
        what: "Hikawas completed after warm-up (at least ten objects and writes each)",
        found: figure(completed),
      },
      { what: "unfinished Hikawas at the end", found: figure(open) },
      { what: "Hikawas skipped due to backlog", found: figure(skipped) },
      {
        what: "bus messages after warm-up and at the end",
        found: `${figure(warmMessages ?? Number.NaN)} and ${figure(messages)}`,
      },
      ...growth.figures(),
    ],
  };
}
/** The number of messages in all streams: memory may grow with it. */
async function messagesOf({ bus }: BenchEnvironment): Promise<number> {
  let messages = 0;
  for await (const { state } of bus.jsm.streams.list()) messages += state.messages;
  return messages;
}
