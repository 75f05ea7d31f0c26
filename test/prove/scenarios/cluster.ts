/** A bus of three servers with server and leader failures. */
import { setTimeout as sleep } from "node:timers/promises";
import { streams, timersStream, workStream } from "../../../bus/subjects.ts";
import type { Child } from "../../../deploy/local/index.ts";
import { quantile } from "../../bench/statistics.ts";
import { openTrialEnvironment } from "../environment.ts";
import { describeFaults, type Fault, type Injected, startFaults } from "../faults.ts";
import { type Effect, now } from "../journal.ts";
import { scope } from "../replica.ts";
import { bounded, figure, type Scenario } from "../scenario.ts";
import { lastChangesSeen, noOverlap, recordOf } from "../verify.ts";

const keys = 500;
const workers = 3;
/** Keeps the bus busy, but little enough to catch up quickly after a second without it. */
const perSecond = 400;
/** The servers take 4 to 9 s to elect a new leader, and some of its delivered messages are redelivered only after AckWait. */
const recoverySeconds = 15;
const recoveredShare = 0.5;
const patienceMillis = 30_000;

export const cluster: Scenario = {
  number: 5,
  name: "cluster",
  title:
    "Three workers on three NATS servers with three copies of each stream. Servers are killed one by one and leaders step down, under load.",
  promise: "three NATS servers lose no change and recover within 15 s",
  fullMinutes: 5,
  tested: "nightly",
  async run(trial) {
    const { next, signal } = trial;
    const seconds = trial.scaled(240, 5);
    const downMillis = trial.scaled(8000, 1000);
    const environment = await openTrialEnvironment(trial, {
      servers: 3,
      ackWaitMillis: trial.scaled(10_000, 3000),
    });
    const replicas = await environment.workers(workers);
    /** Injected one after the other. */
    let turn = Math.floor(next() * 3);
    const nodeDown: Fault = {
      name: "kill -9 of a NATS server",
      async inject() {
        const server = environment.servers[turn++ % 3] as Child;
        const from = now();
        await server.stop("SIGKILL");
        await sleep(downMillis, undefined, { signal });
        // A server is ready once it has caught up with every stream, so two are never missing.
        await server.start(signal);
        return { victim: server.name, from };
      },
    };
    const names = [streams.objects, workStream(scope.fn), timersStream(scope.fn)];
    const stepDown: Fault = {
      name: "the leader of a stream steps down",
      async inject() {
        const stream = names[Math.floor(next() * names.length)] ?? "";
        for (const until = now() + patienceMillis; ; ) {
          const from = now();
          try {
            await environment.bus.nc.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`, "", {
              timeout: 2000,
            });
            return { victim: stream, from };
          } catch (error) {
            // A stream without a leader does not answer.
            signal.throwIfAborted();
            if (now() > until) throw error;
          }
        }
      },
    };
    const kinds = [nodeDown, stepDown];
    // Measures the rate without faults first.
    const calmMillis = trial.scaled(20_000, 3000);
    const begun = now();
    let faults: ReturnType<typeof startFaults> | undefined;
    let each = false;
    let made = 0;
    let settling = Number.POSITIVE_INFINITY;
    for (; now() < settling; made++) {
      signal.throwIfAborted();
      if (faults === undefined && now() - begun > calmMillis) {
        faults = startFaults(trial, kinds, trial.scaled(5000, 1000));
        void faults.eachOnce.then(() => {
          each = true;
        });
      }
      if (settling === Number.POSITIVE_INFINITY && each && now() - begun > seconds * 1000) {
        await faults?.stop();
        // The last fault gets the full recovery limit under the same load.
        settling = now() + recoverySeconds * 1000;
      }
      await environment.change(`key-${Math.floor(next() ** 2 * keys)}`, 2);
      const early = begun + (made * 1000) / perSecond - now();
      if (early > 0) await sleep(early);
      if (made % 10_000 === 0) trial.say(`${figure(made)} changes, ${faults?.injected.length ?? 0} faults`);
    }
    await environment.untilQuiet();
    await Promise.all(replicas.map((replica) => replica.stop()));
    const injected = faults?.injected ?? [];
    const record = await recordOf(environment, injected);
    const { before, slowest } = recovery(record.effects, injected, begun, begun + calmMillis, settling);
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

/** How long each fault reduced the throughput. */
function recovery(
  effects: readonly Effect[],
  faults: readonly Injected[],
  begun: number,
  calm: number,
  end: number,
): { before: number; slowest: number } {
  const rate = (from: number): number => effects.filter(({ to }) => to >= from && to < from + 1000).length;
  const calmRates: number[] = [];
  // The first second warms up.
  for (let from = begun + 1000; from + 1000 <= calm; from += 250) calmRates.push(rate(from));
  const before = quantile(calmRates, 0.5);
  const times = faults.map((fault) => {
    for (let from = fault.from; from + 1000 <= end; from += 100)
      if (rate(from) >= recoveredShare * before) return (from + 1000 - fault.from) / 1000;
    return Number.POSITIVE_INFINITY;
  });
  return { before, slowest: Math.max(...times) };
}
