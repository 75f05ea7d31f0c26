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
import { rssOf } from "../../bench/processes.ts";
import { heapBytes } from "../../bench/profiler/profiler.ts";
import { type Check, type Figure, figure } from "../scenario.ts";
import { startLoad } from "./load.ts";
import { type Sample, type Slope, slopeOf } from "./slope.ts";

/** How to soak. */
export interface SoakOptions {
  readonly minutes: number;
  /** Songs per second. */
  readonly perSecond: number;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The result. */
export interface Soaked {
  readonly checks: readonly Check[];
  readonly figures: readonly Figure[];
}

/**
 * Growth that is not a leak, in MB over the run: of memory after a collection, and of resident memory, which the allocators and
 * garbage collectors of Node and Go vary by tens of MB. And the slope that counts as zero, in MB per hour, for runs so long that
 * those MB are negligible. The higher limit applies: in thirty minutes some six MB per hour after collections, which a leak of a
 * hundred bytes per request exceeds.
 */
const limits = { heap: { megabytes: 2, perHour: 5 }, rss: { megabytes: 30, perHour: 40 } };
const sampleMillis = 1000;
/** Samples between two collections, of which only the last counts, because neighbors are not independent. */
const samplesPerCollection = 10;
/** Compiled code, pools, and caches of seconds fill up before the measurement. */
const warmShare = 1 / 3;

/** Runs the soak. Throws if a process ends unexpectedly. */
export async function soak({ minutes, perSecond, say, signal }: SoakOptions): Promise<Soaked> {
  const stopping = new AbortController();
  const abort = () => stopping.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  const arena = await openBenchEnvironment(stopping);
  try {
    return await measure(arena, { minutes, perSecond, say });
  } finally {
    await arena.stop();
    signal.removeEventListener("abort", abort);
  }
}

async function measure(
  arena: BenchEnvironment,
  { minutes, perSecond, say }: Omit<SoakOptions, "signal">,
): Promise<Soaked> {
  const running = await denrei(arena, "profiler").start("soak");
  await running.settled();
  const load = await startLoad(arena, perSecond);
  const pids = new Map([...running.pids, ...arena.servers()]);
  const rss = new Map<string, Sample[]>([...pids.keys()].map((role) => [role, []]));
  const heap = new Map<string, Sample[]>([...running.profilers.keys()].map((role) => [role, []]));
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1000;
  const warm = minutes * 60 * warmShare;
  let warmSongs = 0;
  let warmMessages: number | undefined;
  for (let tick = 1; seconds() < minutes * 60; tick++) {
    await sleep(Math.max(0, tick * sampleMillis - seconds() * 1000), undefined, { signal: arena.signal });
    if (seconds() < warm) warmSongs = load.sung;
    else warmMessages ??= await messagesOf(arena);
    const collects = tick % samplesPerCollection === 0;
    if (collects) {
      await running.collectGarbage();
      for (const [role, profiler] of running.profilers)
        heap.get(role)?.push({ seconds: seconds(), value: (await heapBytes(profiler)) / 1e6 });
    }
    for (const [role, value] of rssOf(pids)) rss.get(role)?.push({ seconds: seconds(), value });
    if (tick % 60 === 0) say(`${figure(tick / 60)} min, ${figure(load.sung)} songs`);
  }
  const songs = load.sung - warmSongs;
  const rate = songs / (seconds() - warm);
  const { open, skipped } = load;
  const messages = await messagesOf(arena);
  await load.stop();
  await running.stop();

  const measured = (samples: readonly Sample[]): Sample[] => samples.filter((one) => one.seconds >= warm);
  const slowly = (samples: readonly Sample[]): Sample[] =>
    samples.filter((_, at) => (at + 1) % samplesPerCollection === 0);
  const slopes = {
    heap: new Map([...heap].map(([role, samples]) => [role, slopeOf(measured(samples))])),
    rss: new Map([...rss].map(([role, samples]) => [role, slopeOf(measured(slowly(samples)))])),
  };
  const ours = [...slopes.heap.keys(), "nats-server"];
  const servers = [...slopes.rss.keys()].filter((role) => !ours.includes(role));
  const rssOfRole = (role: string): Slope => slopes.rss.get(role) ?? slopeOf([]);
  // A busy machine carries less load, and leaks less. Far below this rate the run finds nothing.
  const least = perSecond / 10;
  const hours = (minutes * (1 - warmShare)) / 60;
  const limitOf = ({ megabytes, perHour }: (typeof limits)["heap"]): number =>
    Math.max(perHour, megabytes / hours);
  return {
    checks: [
      ...[...slopes.heap].map(([role, slope]) =>
        grows(`${role}, held after collection`, slope, limitOf(limits.heap), heap.get(role) ?? []),
      ),
      ...ours.map((role) =>
        grows(`${role}, resident`, rssOfRole(role), limitOf(limits.rss), slowly(rss.get(role) ?? [])),
      ),
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
        found: figure(songs),
      },
      { what: "unfinished Hikawas at the end", found: figure(open) },
      { what: "Hikawas skipped due to backlog", found: figure(skipped) },
      {
        what: "bus messages after warm-up and at the end",
        found: `${figure(warmMessages ?? Number.NaN)} and ${figure(messages)}`,
      },
      ...servers.map((role) => ({
        what: `${role}, resident (history grows until compaction)`,
        found: slopeText(rssOfRole(role)),
      })),
      ...[...rss].map(([role, samples]) => ({
        what: `${role}, resident after warm-up and at the end`,
        found: `${figure(measured(samples)[0]?.value ?? Number.NaN)} and ${figure(samples.at(-1)?.value ?? Number.NaN)} MB`,
      })),
    ],
  };
}

/** The number of messages in all streams: memory may grow with it. */
async function messagesOf({ bus }: BenchEnvironment): Promise<number> {
  let messages = 0;
  for await (const { state } of bus.jsm.streams.list()) messages += state.messages;
  return messages;
}

const slopeText = ({ perHour, low, high }: Slope): string =>
  `${figure(perHour)} MB/h (${figure(low)}–${figure(high)})`;

function grows(what: string, slope: Slope, limit: number, samples: readonly Sample[]): Check {
  // A missing measurement has no slope, and fails every comparison.
  const holds = slope.low <= limit;
  return {
    what,
    limit: `≤ ${figure(limit)} MB/h (99 %)`,
    found: slopeText(slope),
    holds,
    ...(!holds && {
      history: samples.map(({ seconds, value }) => `${seconds.toFixed(0)} s: ${value.toFixed(2)} MB`),
    }),
  };
}
