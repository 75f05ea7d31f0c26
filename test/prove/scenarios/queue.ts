/** The ticket queue under all faults of workers and of the bus. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Child } from "../../../deploy/local/index.ts";
import { now } from "../../harness/now.ts";
import { openTrialEnvironment, type TrialEnvironment } from "../environment.ts";
import { anyOf, describeFaults, killed, paused, restarted, startFaults } from "../faults.ts";
import { inFlight } from "../journal.ts";
import { figure, type Scenario, type Trial } from "../scenario.ts";
import { lastChangesSeen, noOverlap, pausedHadNoEffect, recordOf } from "../verify.ts";

const keys = 1000;
const workers = 4;
const slots = 10;
/** Duration of the reconciles that a pause interrupts. */
const plantedMillis = 2500;
const owned = Array.from({ length: slots }, (_, at) => `owned-${at}`);
const pause = "SIGSTOP of a worker past its deadline";

export const queue: Scenario = {
  number: 1,
  name: "queue",
  title:
    "Four workers and one NATS server process no-op requests for 1,000 keys, hot and cold, while workers are killed and paused and the server is killed and restarted.",
  promise: "crashes of workers and NATS lose no change and cause no overlapping reconciles",
  fullMinutes: 12,
  tested: "always",
  async run(trial) {
    const { next, say } = trial;
    const requests = trial.scaled(1_000_000, 2000);
    // AckWait is the default of 10 s. A shorter run shortens it and the pauses.
    const ackWaitMillis = trial.scaled(10_000, 3000);
    const pauseMillis = trial.scaled(15_000, 4500);
    const environment = await openTrialEnvironment(trial, { servers: 1, ackWaitMillis, concurrency: slots });
    const replicas = await environment.workers(workers);
    const [server] = environment.servers;
    const anyWorker = anyOf(replicas, next);
    const hasPlanted = async ({ name }: Child, since: number): Promise<boolean> =>
      (await inFlight(environment.journals, name, { since, keys: "slow-" })) > 0;
    const kinds = [
      killed("kill -9 of a worker", anyWorker),
      killed("kill -9 of a worker", anyWorker),
      paused(pause, anyWorker, pauseMillis, {
        // The paused worker needs an in-flight reconcile that would have its effect when the worker resumes. It must start now, because
        // an earlier one may have been lost with the bus, and be slow, to last until the pause.
        async prepare(child) {
          for (let since = 0; ; await sleep(10)) {
            trial.signal.throwIfAborted();
            if (now() - since >= plantedMillis) {
              since = now();
              for (let at = 0; at < slots * workers; at++)
                await environment.change(`slow-${at}`, plantedMillis);
            }
            if (await hasPlanted(child, since)) break;
          }
        },
        isCaught: (child) => hasPlanted(child, now() - plantedMillis),
      }),
      killed("kill -9 of NATS", () => server as NonNullable<typeof server>),
      restarted("restart of NATS", () => server as NonNullable<typeof server>),
    ];
    const faults = startFaults(trial, kinds, trial.scaled(4000, 300));
    let made = 0;
    for (; made < requests || !faults.isEachInjected(); made++) {
      trial.signal.throwIfAborted();
      // A few keys are hot, most are cold.
      const key = `key-${Math.floor(next() ** 3 * keys)}`;
      // Most reconciles return at once; some take long enough to be interrupted by a fault.
      await environment.change(key, next() < 0.002 ? 300 : 0);
      if (made % 20_000 === 0) say(`${figure(made)} requests, ${faults.injected.length} faults`);
    }
    await faults.stop();
    await changeWhileOwned(trial, environment, replicas);
    await environment.untilQuiet();
    const replayed = await environment.replayDeadLetters();
    const record = await recordOf(environment, faults.injected);
    return {
      injected: describeFaults(kinds, faults.injected),
      checks: [noOverlap(record), pausedHadNoEffect(record, pause), lastChangesSeen(record)],
      figures: [
        { what: "requests (one per change)", found: figure(made) },
        {
          what: "reconciles after coalescing",
          found: figure(record.effects.length),
        },
        {
          what: "dead letters (three workers killed in a row), replayed",
          found: figure(replayed),
        },
        {
          what: "stranded messages of the killed server, found and requested again",
          found: figure(environment.stranded),
        },
        {
          what: "interrupted reconciles, repeated",
          found: figure(record.begun.length - record.effects.length),
        },
      ],
    };
  },
};

/** The last change of these keys arrives while the previous one is being reconciled, so only a mark records it. */
async function changeWhileOwned(
  trial: Trial,
  environment: TrialEnvironment,
  replicas: readonly Child[],
): Promise<void> {
  await environment.untilQuiet();
  const begunSince = async (since: number): Promise<number> => {
    const counts = await Promise.all(
      replicas.map(({ name }) => inFlight(environment.journals, name, { since, keys: "owned-" })),
    );
    return counts.reduce((sum, count) => sum + count);
  };
  // Start all at once, because an early one ends before a late one starts.
  for (let since = 0; (await begunSince(since)) < owned.length; ) {
    if (now() - since >= plantedMillis) {
      since = now();
      for (const key of owned) await environment.change(key, plantedMillis);
    }
    await sleep(20, undefined, { signal: trial.signal });
  }
  for (const key of owned) await environment.change(key);
}
