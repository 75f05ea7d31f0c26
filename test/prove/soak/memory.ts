/** Samples of the memory of every process, and their growth. */
import type { DenreiRunning } from "../../bench/denrei.ts";
import { type Pids, rssOf } from "../../bench/processes.ts";
import { heapBytes } from "../../bench/profiler/profiler.ts";
import { type Check, type Figure, figure } from "../scenario.ts";
import { type Sample, type Slope, slopeOf } from "./slope.ts";

/**
 * Growth that is not a leak, in MB over the run: of memory after a collection, and of resident memory, which the allocators and
 * garbage collectors of Node and Go vary by tens of MB. And the slope that counts as zero, in MB per hour, for runs so long that
 * those MB are negligible. The higher limit applies: in thirty minutes some six MB per hour after collections, which a leak of a
 * hundred bytes per request exceeds.
 */
const limits = { heap: { megabytes: 2, perHour: 5 }, rss: { megabytes: 30, perHour: 40 } };
/** Samples between two collections, of which only the last counts, because neighbors are not independent. */
const samplesPerCollection = 10;

/** Samples by role, in MB. */
type Samples = ReadonlyMap<string, readonly Sample[]>;

/** Samples the memory of processes. */
export class MemorySamples {
  readonly #running: DenreiRunning;
  readonly #pids: Pids;
  readonly #rss: ReadonlyMap<string, Sample[]>;
  readonly #heap: ReadonlyMap<string, Sample[]>;
  readonly #begun = performance.now();
  #count = 0;

  /** `pids` are all processes to sample; only those of `running` have a heap. */
  constructor(running: DenreiRunning, pids: Pids) {
    this.#running = running;
    this.#pids = pids;
    this.#rss = new Map([...pids.keys()].map((role) => [role, []]));
    this.#heap = new Map([...running.profilers.keys()].map((role) => [role, []]));
  }

  /** Resident memory. */
  get rss(): Samples {
    return this.#rss;
  }

  /** V8's heap and buffers after a collection. */
  get heap(): Samples {
    return this.#heap;
  }

  /** Seconds since the first sample could be taken. */
  seconds(): number {
    return (performance.now() - this.#begun) / 1000;
  }

  /** Samples resident memory, and every tenth time the heaps after a collection. */
  async sample(): Promise<void> {
    this.#count++;
    if (this.#count % samplesPerCollection === 0) await this.#sampleHeaps();
    for (const [role, value] of rssOf(this.#pids))
      this.#rss.get(role)?.push({ seconds: this.seconds(), value });
  }

  async #sampleHeaps(): Promise<void> {
    await this.#running.collectGarbage();
    for (const [role, profiler] of this.#running.profilers)
      this.#heap.get(role)?.push({ seconds: this.seconds(), value: (await heapBytes(profiler)) / 1e6 });
  }
}

/** The growth of every process after the warm-up. */
export class MemoryGrowth {
  readonly #samples: Pick<MemorySamples, "rss" | "heap">;
  readonly #warmSeconds: number;
  readonly #heapSlopes: ReadonlyMap<string, Slope>;
  readonly #rssSlopes: ReadonlyMap<string, Slope>;

  constructor(samples: Pick<MemorySamples, "rss" | "heap">, warmSeconds: number) {
    this.#samples = samples;
    this.#warmSeconds = warmSeconds;
    this.#heapSlopes = mapValues(samples.heap, (heap) => slopeOf(this.#measured(heap)));
    this.#rssSlopes = mapValues(samples.rss, (rss) => slopeOf(this.#measured(independent(rss))));
  }

  /** Checks that no process of ours, and no NATS server, grows in `hours` of measurement. */
  checks(hours: number): Check[] {
    const limitOf = ({ megabytes, perHour }: (typeof limits)["heap"]): number =>
      Math.max(perHour, megabytes / hours);
    const { heap, rss } = this.#samples;
    return [
      ...[...this.#heapSlopes].map(([role, slope]) =>
        notGrowing(`${role}, held after collection`, slope, limitOf(limits.heap), heap.get(role) ?? []),
      ),
      ...this.#checkedRoles().map((role) =>
        notGrowing(
          `${role}, resident`,
          this.#rssSlope(role),
          limitOf(limits.rss),
          independent(rss.get(role) ?? []),
        ),
      ),
    ];
  }

  figures(): Figure[] {
    const checked = this.#checkedRoles();
    const servers = [...this.#rssSlopes.keys()].filter((role) => !checked.includes(role));
    return [
      ...servers.map((role) => ({
        what: `${role}, resident (history grows until compaction)`,
        found: slopeText(this.#rssSlope(role)),
      })),
      ...[...this.#samples.rss].map(([role, samples]) => ({
        what: `${role}, resident after warm-up and at the end`,
        found: `${figure(this.#measured(samples)[0]?.value ?? Number.NaN)} and ${figure(samples.at(-1)?.value ?? Number.NaN)} MB`,
      })),
    ];
  }

  #checkedRoles(): string[] {
    return [...this.#heapSlopes.keys(), "nats-server"];
  }

  #rssSlope(role: string): Slope {
    return this.#rssSlopes.get(role) ?? slopeOf([]);
  }

  #measured(samples: readonly Sample[]): Sample[] {
    return samples.filter(({ seconds }) => seconds >= this.#warmSeconds);
  }
}

const independent = (samples: readonly Sample[]): Sample[] =>
  samples.filter((_, at) => (at + 1) % samplesPerCollection === 0);

const mapValues = <T, U>(map: ReadonlyMap<string, T>, change: (value: T) => U): ReadonlyMap<string, U> =>
  new Map([...map].map(([key, value]) => [key, change(value)]));

const slopeText = ({ perHour, low, high }: Slope): string =>
  `${figure(perHour)} MB/h (${figure(low)}–${figure(high)})`;

/** Checks that the whole confidence interval of a slope is not above the limit. */
function notGrowing(what: string, slope: Slope, limit: number, samples: readonly Sample[]): Check {
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
