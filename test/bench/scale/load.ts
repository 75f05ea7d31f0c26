/** The load on a bus with hosts: published samples that each function reconciles, and requests for samples that exist. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Publisher } from "../../../bus/bridge/publisher.ts";
import { now } from "../../harness/now.ts";
import { publisherOf } from "../../harness/publish.ts";
import { measure, type Usage } from "../processes.ts";
import type { Made, Order } from "../queueplan.ts";
import { sumOf } from "../statistics.ts";
import { type Counted, Sample, sampleOf, type Taken } from "./hostplan.ts";
import type { ScaleBus } from "./scalebus.ts";

/** Samples that were published, and that every function has reconciled. */
export interface EventsRun {
  readonly events: number;
  readonly functions: number;
  /** From the first publish to the last reconcile. */
  readonly seconds: number;
  /** From the first publish until the bus has stored all samples. */
  readonly publishSeconds: number;
  /** Milliseconds from the publish of each sample to its reconcile by each function. */
  readonly each: readonly number[];
  /** Milliseconds from the publish of each sample to the last of these reconciles. */
  readonly last: readonly number[];
  readonly usage: ReadonlyMap<string, Usage>;
}

/** Requests for samples that exist. */
export interface RequestsRun {
  readonly requests: number;
  /** From the first request until no ticket or mark is left. */
  readonly seconds: number;
  /** The share of requests that found their key owned, 0 to 1. */
  readonly ownedShare: number;
  readonly usage: ReadonlyMap<string, Usage>;
}

/** Without a further reconcile for this long, a run hangs. */
const stallMillis = 120_000;
const pollMillis = 100;
/** Requests are for so many keys, and pause while so many tickets wait, so nearly every request finds its key free. */
const requested = { keys: 1000, backlog: 200 };

/** Samples that the benchmark publishes as a bridge would. */
export class Samples {
  readonly #scale: ScaleBus;
  readonly #publisher: Publisher;
  /** When each was published, by index: milliseconds of the machine's clock. */
  readonly #published: number[] = [];

  private constructor(scale: ScaleBus, publisher: Publisher) {
    this.#scale = scale;
    this.#publisher = publisher;
  }

  static async open(scale: ScaleBus): Promise<Samples> {
    return new Samples(scale, await publisherOf(scale.bus, Sample));
  }

  /**
   * Publishes new samples, one every `everyMillis` (0: as fast as the bus stores them), and waits until every function has reconciled
   * them. Throws if reconciles stop before that.
   */
  async run(events: number, everyMillis = 0): Promise<EventsRun> {
    const { pids, functions } = this.#scale;
    const usage = measure(pids);
    const from = this.#published.length;
    const publishSeconds = await this.#publish(events, everyMillis);
    const millis = await this.#reconciled(from, events);
    await this.#scale.drained();
    const published = this.#published.slice(from);
    const ends = millis.flatMap((of) => of.map((value, at) => (published[at] ?? Number.NaN) + value));
    return {
      events,
      functions: functions.length,
      seconds: (ends.reduce((a, b) => Math.max(a, b)) - (published[0] ?? Number.NaN)) / 1000,
      publishSeconds,
      each: millis.flat(),
      last: published.map((_, at) => Math.max(...millis.map((of) => of[at] ?? Number.NaN))),
      usage: usage(),
    };
  }

  /** Makes requests for published samples from the hosts, in equal parts. */
  async request(requests: number): Promise<RequestsRun> {
    const { hosts, pids, drained } = this.#scale;
    const keys = Math.min(requested.keys, this.#published.length);
    const part = Math.ceil(requests / hosts.length);
    const usage = measure(pids);
    const begun = now();
    const made = await Promise.all(
      hosts.map((host, at) => {
        const offset = Math.floor((at * keys) / hosts.length);
        const order: Order = { requests: part, keys, offset, backlog: requested.backlog };
        return host.ask<Made>({ command: "request", order });
      }),
    );
    await drained();
    const total = part * hosts.length;
    return {
      requests: total,
      seconds: (now() - begun) / 1000,
      ownedShare: sumOf(made.map(({ owned }) => owned)) / total,
      usage: usage(),
    };
  }

  async #publish(events: number, everyMillis: number): Promise<number> {
    const { signal } = this.#scale.measuring;
    const begun = now();
    for (let made = 0; made < events; made++) {
      signal.throwIfAborted();
      const early = begun + made * everyMillis - now();
      if (early > 0) await sleep(early, undefined, { signal });
      const index = this.#published.length;
      const at = now();
      this.#published.push(at);
      await this.#publisher.publish("added", sampleOf(index, at), "watch");
    }
    await this.#publisher.settled();
    return (now() - begun) / 1000;
  }

  /** The milliseconds until the reconcile of each sample from this index on, by function. */
  async #reconciled(from: number, events: number): Promise<number[][]> {
    const { functions, measuring } = this.#scale;
    const found = functions.map(() => new Map<number, number>());
    const missing = () => events * functions.length - sumOf(found.map(({ size }) => size));
    let counted = 0;
    for (let progress = now(); missing() > 0; ) {
      const count = await this.#counted();
      if (count > counted) progress = now();
      counted = count;
      if (count >= missing()) {
        await this.#take(found, from);
        counted = 0;
      }
      if (now() - progress > stallMillis)
        throw new Error(
          `expected each of ${functions.length} functions to reconcile ${events} samples, found that ${missing() - counted} reconciles are missing and none came for ${stallMillis} ms`,
        );
      if (missing() > 0) await sleep(pollMillis, undefined, { signal: measuring.signal });
    }
    return found.map((of) => Array.from({ length: events }, (_, at) => of.get(from + at) ?? Number.NaN));
  }

  async #counted(): Promise<number> {
    const counted = await Promise.all(
      this.#scale.hosts.map((host) => host.ask<Counted>({ command: "count" })),
    );
    return sumOf(counted.map(({ count }) => count));
  }

  /** Adds what the hosts have seen. Earlier samples are reconciled again when they are requested, and do not count. */
  async #take(found: readonly Map<number, number>[], from: number): Promise<void> {
    const { hosts, functions } = this.#scale;
    await Promise.all(
      hosts.map(async (host) => {
        const of = found[functions.indexOf(host.fn)];
        for (;;) {
          const { samples } = await host.ask<Taken>({ command: "take" });
          if (samples.length === 0) return;
          // Two replicas may reconcile a sample: the first one counts.
          for (const [index, millis] of samples)
            if (index >= from) of?.set(index, Math.min(millis, of.get(index) ?? millis));
        }
      }),
    );
  }
}
