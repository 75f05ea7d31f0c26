/** Bridges that compete for the lease of notes: they lose their leader, and their terms are read from lease and logs. */
import { setTimeout as sleep } from "node:timers/promises";
import type { KV } from "@nats-io/kv";
import { defaultLease, holderIn } from "../../bus/bridge/lease.ts";
import { leaseKey } from "../../bus/bridge/position.ts";
import { kindText } from "../../bus/kube/kind.ts";
import { compareVersions, type Stored } from "../../bus/kube/object.ts";
import { Note } from "../fixtures/functions/notes.ts";
import type { BridgeReplica, OwnBridged } from "../harness/bridged.ts";

/** A lost leader. */
export interface Loss {
  readonly fault: "killed" | "paused";
  /** The number of bridges, with the lost one. */
  readonly bridges: number;
  readonly victim: string;
  /** RFC 3339. */
  readonly time: string;
  /** From the fault until the first later change was on the bus. */
  readonly seconds: number;
}

/** The time that one replica led the notes, from its log. */
export interface Term {
  readonly replica: string;
  /** RFC 3339. */
  readonly from: string;
  /** RFC 3339, or `the end`. */
  readonly to: string;
}

/** Longer than a standby waits for a renewal of the lease. Milliseconds. */
export const pauseMillis = defaultLease.takeMillis + 2000;
const deadlineMillis = 60_000;
/** Changed when a leader is lost: once the change is on the bus, another bridge has taken over. */
const beacon = "beacon";
const lease = leaseKey("default", Note);

/** Bridges that share the kinds. */
export class SharedBridges {
  readonly #bridged: OwnBridged;
  readonly #signal: AbortSignal;
  readonly #byName = new Map<string, BridgeReplica>();

  constructor(bridged: OwnBridged, signal: AbortSignal) {
    this.#bridged = bridged;
    this.#signal = signal;
  }

  get all(): readonly BridgeReplica[] {
    return [...this.#byName.values()];
  }

  /** Starts one more bridge. */
  async start(name: string): Promise<void> {
    const bridge = await this.#bridged.bridge(name, { env: { DENREI_LOG_LEVEL: "info" } });
    this.#byName.set(name, bridge);
  }

  /** Resolves when a bridge leads and publishes changes. */
  async untilPublishing(): Promise<void> {
    await this.#leader();
    await this.#untilPublished(await this.#bridged.create(beacon));
  }

  /** Disables the leader until another bridge has taken over, and brings it back. */
  async loseLeader(fault: Loss["fault"]): Promise<Loss> {
    const victim = await this.#leader();
    const time = new Date().toISOString();
    const begun = performance.now();
    const restore = await disable(victim, fault, time, this.#signal);
    await this.#untilPublished(await this.#bridged.change(beacon));
    const seconds = (performance.now() - begun) / 1000;
    await this.#leader(victim.name);
    await restore();
    return { fault, bridges: this.#byName.size, victim: victim.name, time, seconds };
  }

  /** The bridge that holds the lease, once it is not `other`. */
  async #leader(other?: string): Promise<BridgeReplica> {
    for (const until = performance.now() + deadlineMillis; performance.now() < until; ) {
      const name = holderIn((await this.#bridged.kv.get(lease))?.string() ?? "");
      const bridge = this.#byName.get(name);
      if (bridge !== undefined && name !== other) return bridge;
      await sleep(20, undefined, { signal: this.#signal });
    }
    throw new Error(`expected a bridge other than ${other} to lead within ${deadlineMillis} ms`);
  }

  #untilPublished({ metadata: { resourceVersion } }: Stored<Note>): Promise<void> {
    const { history } = this.#bridged;
    return history.until(() => {
      const last = history.of(Note, beacon).at(-1)?.resourceVersion;
      return last !== undefined && compareVersions(last, resourceVersion) >= 0;
    }, deadlineMillis);
  }
}

/** Kills or pauses a bridge, and returns what brings it back. */
async function disable(
  bridge: BridgeReplica,
  fault: Loss["fault"],
  time: string,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  if (fault === "killed") {
    await bridge.kill();
    return () => bridge.start(signal);
  }
  const pid = bridge.pid ?? 0;
  process.kill(pid, "SIGSTOP");
  const resumed = sleep(pauseMillis).then(() => {
    process.kill(pid, "SIGCONT");
  });
  return async () => {
    await resumed;
    // It has to learn that it lost the notes before it can be the next one to lose.
    await bridge.log.until((line) => isStandingBy(line) && timeOf(line) > time);
  };
}

const parsed = (line: string): Record<string, unknown> => {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
};
const timeOf = (line: string): string => String(parsed(line).time);
const isStandingBy = (line: string): boolean => {
  const { msg, kind } = parsed(line);
  return msg === "standing by" && kind === kindText(Note);
};

/** The terms of all bridges, in order. A term ends when the bridge steps down or is lost. */
export const termsOf = (bridges: readonly BridgeReplica[], losses: readonly Loss[]): Term[] =>
  bridges
    .flatMap((bridge) => {
      const ends = [
        ...bridge.logged("standing by", Note).map(({ time }) => String(time)),
        ...losses.filter(({ victim }) => victim === bridge.name).map(({ time }) => time),
      ].sort();
      return bridge.logged("leading", Note).map(({ time }): Term => {
        const from = String(time);
        return { replica: bridge.name, from, to: ends.find((end) => end > from) ?? "the end" };
      });
    })
    .sort((a, b) => (a.from < b.from ? -1 : 1));

/** The history of the lease. */
export interface LeaseRecords {
  /** How often the lease changed to a different holder. */
  terms(): number;
  /** All records, as lines. */
  lines(): string[];
  stop(): void;
}

/** Watches every record of the lease. */
export async function watchLease(kv: KV): Promise<LeaseRecords> {
  const records: { revision: number; holder: string }[] = [];
  const watch = await kv.watch({ key: lease });
  void (async () => {
    for await (const entry of watch) records.push({ revision: entry.revision, holder: entry.string() });
  })();
  return {
    terms: () =>
      records.filter(({ holder }, at) => holder !== "" && holder !== records[at - 1]?.holder).length,
    lines: () => records.map(({ revision, holder }) => `lease record ${revision}: ${holder || "released"}`),
    stop: () => watch.stop(),
  };
}
