/** A bus of three servers with server and leader failures. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "../../../bus/nats/connect.ts";
import { streams, timersStream, workStream } from "../../../bus/subjects.ts";
import type { Child } from "../../../deploy/local/index.ts";
import { quantile } from "../../bench/statistics.ts";
import { now } from "../../harness/now.ts";
import { openTrialEnvironment, type TrialEnvironment } from "../environment.ts";
import { describeFaults, type Fault, type Faults, type Injected, startFaults } from "../faults.ts";
import type { Effect } from "../journal.ts";
import { scope } from "../replica.ts";
import { bounded, figure, type Scenario, type Trial } from "../scenario.ts";
import { lastChangesSeen, noOverlap, recordOf } from "../verify.ts";

const keys = 500;
const workers = 3;
/** Keeps the bus busy, but little enough to catch up quickly after a second without it. */
const perSecond = 400;
/** The servers take 4 to 9 s to elect a new leader, and some of its delivered messages are redelivered only after AckWait. */
const recoverySeconds = 15;
const recoveredShare = 0.5;
/** How long a stream may stay without a leader. */
const stepDownMillis = 30_000;

export const cluster: Scenario = {
  number: 5,
  name: "cluster",
  title:
    "Three workers on three NATS servers with three copies of each stream. Servers are killed one by one and leaders step down, under load.",
  promise: "three NATS servers lose no change and recover within 15 s",
  fullMinutes: 5,
  tested: "nightly",
  async run(trial) {
    const environment = await openTrialEnvironment(trial, {
      servers: 3,
      ackWaitMillis: trial.scaled(10_000, 3000),
    });
    const replicas = await environment.workers(workers);
    const kinds = [serverDown(trial, environment.servers), stepDown(trial, environment.bus)];
    const load = await changeUnderFaults(trial, environment, kinds);
    await environment.untilQuiet();
    await Promise.all(replicas.map((replica) => replica.stop()));
    const { made, injected } = load;
    const record = await recordOf(environment, injected);
    const { before, slowest } = recovery(record.effects, load);
    return {
      injected: describeFaults(kinds, injected),
      checks: [
        lastChangesSeen(record),
        noOverlap(record),
        bounded(
          `longest recovery to ${recoveredShare * 100} % of the undisturbed throughput`,
          slowest,
          "<=",
          recoverySeconds,
          "s",
        ),
      ],
      figures: [
        { what: "acknowledged changes", found: figure(made) },
        { what: "reconciles", found: figure(record.effects.length) },
        { what: "reconciles/s, undisturbed", found: figure(before) },
        {
          what: "stranded messages of killed servers, found and requested again",
          found: figure(environment.stranded),
        },
      ],
    };
  },
};

/** Kills the servers in turn. */
function serverDown({ next, scaled, signal }: Trial, servers: readonly Child[]): Fault {
  const downMillis = scaled(8000, 1000);
  let turn = Math.floor(next() * 3);
  return {
    name: "kill -9 of a NATS server",
    async inject() {
      const server = servers[turn++ % 3] as Child;
      const from = now();
      await server.stop("SIGKILL");
      await sleep(downMillis, undefined, { signal });
      // A server is ready once it has caught up with every stream, so two are never missing.
      await server.start(signal);
      return { victim: server.name, from };
    },
  };
}

/** Asks the leader of a random stream to step down. */
function stepDown({ next, signal }: Trial, { nc }: Bus): Fault {
  const names = [streams.objects, workStream(scope.fn), timersStream(scope.fn)];
  return {
    name: "the leader of a stream steps down",
    async inject() {
      const stream = names[Math.floor(next() * names.length)] ?? "";
      for (const until = now() + stepDownMillis; ; ) {
        const from = now();
        try {
          await nc.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`, "", { timeout: 2000 });
          return { victim: stream, from };
        } catch (error) {
          // A stream without a leader does not answer.
          signal.throwIfAborted();
          if (now() > until) throw error;
        }
      }
    },
  };
}

/** A load during which faults were injected. Milliseconds of the machine's clock. */
interface DisturbedLoad {
  readonly begun: number;
  /** No fault was injected before. */
  readonly calmUntil: number;
  readonly ended: number;
  /** The number of changes. */
  readonly made: number;
  readonly injected: readonly Injected[];
}

/** Changes keys at a steady rate, first without faults. */
async function changeUnderFaults(
  trial: Trial,
  environment: TrialEnvironment,
  kinds: readonly Fault[],
): Promise<DisturbedLoad> {
  const { next, signal } = trial;
  const leastMillis = trial.scaled(240, 5) * 1000;
  const calmMillis = trial.scaled(20_000, 3000);
  const begun = now();
  let faults: Faults | undefined;
  let ended = Number.POSITIVE_INFINITY;
  let made = 0;
  for (; now() < ended; made++) {
    signal.throwIfAborted();
    if (faults === undefined && now() - begun > calmMillis)
      faults = startFaults(trial, kinds, trial.scaled(5000, 1000));
    if (!Number.isFinite(ended) && faults?.isEachInjected() && now() - begun > leastMillis) {
      await faults.stop();
      // The last fault gets the full recovery limit under the same load.
      ended = now() + recoverySeconds * 1000;
    }
    await environment.change(`key-${Math.floor(next() ** 2 * keys)}`, 2);
    const early = begun + (made * 1000) / perSecond - now();
    if (early > 0) await sleep(early);
    if (made % 10_000 === 0) trial.say(`${figure(made)} changes, ${faults?.injected.length ?? 0} faults`);
  }
  return { begun, calmUntil: begun + calmMillis, ended, made, injected: faults?.injected ?? [] };
}

/** The undisturbed rate of reconciles per second, and the seconds until the slowest recovery from a fault. */
function recovery(
  effects: readonly Effect[],
  { begun, calmUntil, ended, injected }: DisturbedLoad,
): { before: number; slowest: number } {
  const rate = (from: number): number => effects.filter(({ to }) => to >= from && to < from + 1000).length;
  const calmRates: number[] = [];
  // The first second warms up.
  for (let from = begun + 1000; from + 1000 <= calmUntil; from += 250) calmRates.push(rate(from));
  const before = quantile(calmRates, 0.5);
  const times = injected.map((fault) => {
    for (let from = fault.from; from + 1000 <= ended; from += 100)
      if (rate(from) >= recoveredShare * before) return (from + 1000 - fault.from) / 1000;
    return Number.POSITIVE_INFINITY;
  });
  return { before, slowest: Math.max(...times) };
}
