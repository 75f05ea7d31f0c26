/** Bridges that take over from each other. */
import { setTimeout as sleep } from "node:timers/promises";
import type { KV } from "@nats-io/kv";
import { defaultLease, holderIn } from "../../../bus/bridge/lease.ts";
import { leaseKey } from "../../../bus/bridge/position.ts";
import { ConfigMap, type Kind, kindText, Secret } from "../../../bus/kube/kind.ts";
import { compareVersions } from "../../../bus/kube/object.ts";
import { quantile } from "../../bench/statistics.ts";
import { Note } from "../../fixtures/functions/notes.ts";
import { type BridgeReplica, startChurn, startOwnBridged } from "../../harness/bridged.ts";
import { bounded, type Check, figure, type Scenario } from "../scenario.ts";

const kinds: readonly Kind[] = [Note, Secret, ConfigMap];
const hotNotes = 10;
/** Longer than a standby waits for a renewal of the lease. Milliseconds. */
const pauseMillis = defaultLease.takeMillis + 2000;
const limitSeconds = 5;
const patienceMillis = 60_000;
/** Written when a leader is lost: once it is on the bus, another bridge has taken over. */
const beacon = "beacon";

/** A lost leader. */
interface Loss {
  readonly fault: "killed" | "paused";
  readonly bridges: number;
  readonly victim: string;
  /** RFC 3339. */
  readonly time: string;
  /** From the fault until the first later change was on the bus. */
  readonly seconds: number;
}

/** The time that one replica led the notes, from its log. */
interface Reign {
  readonly replica: string;
  /** RFC 3339. */
  readonly from: string;
  readonly to: string;
}

export const takeover: Scenario = {
  number: 3,
  name: "takeover",
  title:
    "Two and then three bridges share the kinds. The leader is killed, or paused for longer than its lease, while notes keep changing.",
  promise: "a standby bridge takes over within 5 s",
  fullMinutes: 4,
  tested: "nightly",
  async run(trial) {
    const { next, say, signal, defer } = trial;
    const bridged = await startOwnBridged();
    defer(() => bridged.stop());
    const { history, kv } = bridged;
    const lease = leaseKey("default", Note);
    const holders = await watchLease(kv, lease);
    defer(() => holders.stop());
    const bridges = new Map<string, BridgeReplica>();
    const start = async (name: string): Promise<void> => {
      bridges.set(name, await bridged.bridge(name, { env: { DENREI_LOG_LEVEL: "info" } }));
    };
    await Promise.all(["bridge-a", "bridge-b"].map(start));

    async function leader(other?: string): Promise<BridgeReplica> {
      for (const until = performance.now() + patienceMillis; performance.now() < until; ) {
        const name = holderIn((await kv.get(lease))?.string() ?? "");
        const bridge = bridges.get(name);
        if (bridge !== undefined && name !== other) return bridge;
        await sleep(20, undefined, { signal });
      }
      throw new Error(`expected a bridge other than ${other} to lead within ${patienceMillis} ms`);
    }

    /** Resolves when the change with this version is on the bus. */
    const untilTold = (version: string): Promise<void> =>
      history.until(() => {
        const last = history.of(Note, beacon).at(-1)?.resourceVersion;
        return last !== undefined && compareVersions(last, version) >= 0;
      }, patienceMillis);

    await leader();
    await untilTold((await bridged.create(beacon)).metadata.resourceVersion);
    const churn = startChurn(
      bridged,
      Array.from({ length: hotNotes }, (_, at) => `note-${at}`),
      trial.seed,
    );
    let going = true;
    defer(() => (going ? churn.stop() : undefined));
    const losses: Loss[] = [];
    const pausedAt = new Map<string, string[]>();

    async function lose(fault: Loss["fault"]): Promise<void> {
      // At a random moment of its work.
      await churn.more(20 + Math.floor(next() * 50));
      const victim = await leader();
      const pid = victim.pid ?? 0;
      const time = new Date().toISOString();
      const begun = performance.now();
      if (fault === "killed") await victim.kill();
      else process.kill(pid, "SIGSTOP");
      const resumed =
        fault === "killed"
          ? undefined
          : sleep(pauseMillis).then(() => {
              process.kill(pid, "SIGCONT");
            });
      const { metadata } = await bridged.change(beacon);
      await untilTold(metadata.resourceVersion);
      const seconds = (performance.now() - begun) / 1000;
      losses.push({ fault, bridges: bridges.size, victim: victim.name, time, seconds });
      await leader(victim.name);
      if (resumed === undefined) await victim.start(signal);
      else {
        pausedAt.set(victim.name, [...(pausedAt.get(victim.name) ?? []), time]);
        await resumed;
        // It has to learn that it lost the notes before it can be the next one to lose.
        await victim.log.until((line) => isStandingBy(line) && timeOf(line) > time);
      }
    }

    const faults = trial.scaled(15, 1);
    for (const [at, fault] of [...Array(faults)].flatMap(() => ["killed", "paused"] as const).entries()) {
      // The first half with two bridges, the rest with three; at the smallest size one kill and one pause.
      if (at === faults) await start("bridge-c");
      await lose(fault);
      say(`${fault} ${losses.at(-1)?.victim}, takeover after ${losses.at(-1)?.seconds.toFixed(2)} s`);
    }
    going = false;
    await churn.stop();
    const trouble = await Promise.all(kinds.map((kind) => bridged.untilAgreed(kind))).then(
      () => undefined,
      (error: Error) => error.message,
    );

    const reigns = [...bridges.values()].flatMap((bridge) => reignsOf(bridge, losses));
    reigns.sort((a, b) => (a.from < b.from ? -1 : 1));
    const overlaps = reigns.filter((reign, at) => (reigns[at - 1]?.to ?? "") > reign.from);
    const terms = holders.terms();
    const lossLines = losses.map(
      (loss) => `${loss.time} ${loss.victim} ${loss.fault}, ${loss.seconds.toFixed(2)} s, of ${loss.bridges}`,
    );
    const story = [
      ...lossLines,
      ...reigns.map(({ replica, from, to }) => `${from} ${replica} leads until ${to}`),
    ].sort();
    const disorder = history.disorder();
    const times = losses.map(({ seconds }) => seconds);
    const lists = [...bridges.values()].flatMap((bridge) => bridge.logged("listed", Note)).length;
    const agreed: Check = {
      what: "objects on the bus match the API server",
      limit: "all of them",
      found:
        trouble === undefined
          ? `${figure((await bridged.environment.list(Note)).length)} notes`
          : "they differ",
      holds: trouble === undefined,
      ...(trouble !== undefined && { history: [trouble, ...story] }),
    };
    return {
      injected: (["killed", "paused"] as const).flatMap((fault) =>
        [2, 3].map((count) => {
          const times = losses.filter((loss) => loss.fault === fault && loss.bridges === count).length;
          const how = fault === "killed" ? "kill -9" : `SIGSTOP for ${pauseMillis / 1000} s`;
          return `${how} of the leader of ${count} bridges: ${times}`;
        }),
      ),
      checks: [
        {
          what: "changes published out of order",
          limit: "0",
          found: `${disorder.length} of ${figure(history.all.length)}`,
          holds: disorder.length === 0 && history.all.length > 0,
          ...(disorder.length > 0 && { history: [...disorder.slice(0, 20), ...story] }),
        },
        bounded("takeover, longest", Math.max(...times), "<=", limitSeconds, "s", { history: story }),
        agreed,
        {
          what: "times with two leaders at once (a paused one counts until its pause)",
          limit: "0",
          found: `${overlaps.length} of ${reigns.length}`,
          holds: overlaps.length === 0 && reigns.length > losses.length,
          ...(overlaps.length > 0 && { history: story }),
        },
        {
          what: "times that a bridge led without the lease",
          limit: "0",
          found: `${Math.abs(reigns.length - terms)} of ${terms}`,
          holds: reigns.length === terms,
          ...(reigns.length !== terms && { history: [...holders.all(), ...story] }),
        },
      ],
      figures: [
        { what: "takeover, median", found: `${figure(quantile(times, 0.5))} s` },
        { what: "lists of notes, all bridges", found: figure(lists) },
        { what: "changes of notes on the bus", found: figure(history.of(Note).length) },
      ],
    };
  },
};

const record = (line: string): Record<string, unknown> => {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
};
const timeOf = (line: string): string => String(record(line).time);
const isStandingBy = (line: string): boolean => {
  const { msg, kind } = record(line);
  return msg === "standing by" && kind === kindText(Note);
};

/** When a replica led the notes: until it stepped down or was lost. */
function reignsOf(bridge: BridgeReplica, losses: readonly Loss[]): Reign[] {
  const ends = [
    ...bridge.logged("standing by", Note).map(({ time }) => String(time)),
    ...losses.filter(({ victim }) => victim === bridge.name).map(({ time }) => time),
  ].sort();
  return bridge.logged("leading", Note).map(({ time }) => {
    const from = String(time);
    return { replica: bridge.name, from, to: ends.find((end) => end > from) ?? "the end" };
  });
}

/** Watches every record of a lease. */
async function watchLease(kv: KV, key: string) {
  const records: { revision: number; holder: string }[] = [];
  const watch = await kv.watch({ key });
  void (async () => {
    for await (const entry of watch) records.push({ revision: entry.revision, holder: entry.string() });
  })();
  return {
    /** How often the lease changed to a different holder. */
    terms: () =>
      records.filter(({ holder }, at) => holder !== "" && holder !== records[at - 1]?.holder).length,
    all: () => records.map(({ revision, holder }) => `lease record ${revision}: ${holder || "released"}`),
    stop: () => watch.stop(),
  };
}
