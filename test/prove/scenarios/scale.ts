/** Throughput grows with the number of workers. */
import { openTrialEnvironment } from "../environment.ts";
import { readJournals } from "../journal.ts";
import { bounded, figure, type Scenario, type Trial } from "../scenario.ts";

const reconcileMillis = 50;
const least = 3.6;

export const scale: Scenario = {
  number: 9,
  name: "scale",
  title: `Reconciles that wait ${reconcileMillis} ms for an external service, on 1, 2, 4, and 8 workers.`,
  promise: "four workers do at least 3.6 times the work of one",
  fullMinutes: 2,
  tested: "nightly",
  async run(trial) {
    const seconds = trial.scaled(15, 3);
    // Next to other tests little CPU is left, and the measurement is about waiting.
    const concurrency = trial.scaled(10, 4);
    const counts = concurrency === 10 ? [1, 2, 4, 8] : [1, 4];
    /** The best possible rate of one worker. */
    const perSecond = (concurrency * 1000) / reconcileMillis;
    const rates = new Map<number, number>();
    for (const count of counts) {
      rates.set(count, await rateOf(trial, count, concurrency, perSecond * count * seconds));
      trial.say(`${count} workers: ${figure(rates.get(count) ?? 0)} reconciles/s`);
    }
    const one = rates.get(1) ?? 0;
    const times = (count: number): number => (rates.get(count) ?? 0) / one;
    return {
      injected: [`workers: ${counts.join(", ")}, each with ${concurrency} concurrent reconciles`],
      checks: [bounded("throughput of 4 workers / of one", times(4), ">=", least, "×")],
      figures: counts.map((count) => ({
        what: `reconciles/s on ${count} (at best ${figure(count * perSecond)})`,
        found: `${figure(rates.get(count) ?? 0)}, ${figure(times(count))} × one`,
      })),
    };
  },
};

/** Reconciles per second while all workers are busy: measured in the middle of this many requests. */
async function rateOf(trial: Trial, count: number, concurrency: number, requests: number): Promise<number> {
  const environment = await openTrialEnvironment(trial, { servers: 1, ackWaitMillis: 10_000, concurrency });
  const replicas = await environment.workers(count);
  // Each for another object, so that none are coalesced.
  for (let at = 0; at < requests; at++) await environment.change(`item-${at}`, reconcileMillis);
  await environment.untilQuiet();
  await Promise.all(replicas.map((replica) => replica.stop()));
  const ends = (await readJournals(environment.journals)).effects.map(({ to }) => to).sort((a, b) => a - b);
  const from = Math.floor(ends.length * 0.1);
  const to = Math.floor(ends.length * 0.9);
  return ((to - from) / ((ends[to] ?? 0) - (ends[from] ?? 0))) * 1000;
}
