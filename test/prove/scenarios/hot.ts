/** One object that changes all the time. */
import { setTimeout as sleep } from "node:timers/promises";
import { timersStream, workStream } from "../../../bus/subjects.ts";
import { openTrialEnvironment, type TrialEnvironment } from "../environment.ts";
import { readJournals } from "../journal.ts";
import { scope } from "../replica.ts";
import { bounded, type Check, figure, type Scenario, type Trial } from "../scenario.ts";

const reconcileMillis = 100;
const pauseMillis = 10;
const key = "hot";

/** The cost of one object. */
interface Heat {
  readonly runs: number;
  readonly seconds: number;
  /** The most messages in both streams at any poll. */
  readonly mostStored: number;
  readonly polls: number;
  readonly seen: boolean;
}

export const hot: Scenario = {
  number: 7,
  name: "hot",
  title: "One object changes 1,000 times while each reconcile takes 100 ms, with one and with three workers.",
  promise: "a hot object costs a bounded number of reconciles and messages",
  fullMinutes: 1,
  tested: "nightly",
  async run(trial) {
    const changes = trial.scaled(1000, 300);
    const one = await heat(trial, changes, 1);
    const three = await heat(trial, changes, 3);
    return {
      injected: [
        `${figure(changes)} changes of one object, one every ${pauseMillis} ms, with 1 and with 3 workers`,
      ],
      checks: [...checksOf(one, 1), ...checksOf(three, 3)],
    };
  },
};

/** A replica leaves at most one mark of an object next to its ticket, independent of the marks of other replicas. */
function checksOf({ runs, seconds, mostStored, polls, seen }: Heat, workers: number): Check[] {
  const who = workers === 1 ? "one worker" : `${workers} workers`;
  const most = Math.floor((seconds * 1000) / reconcileMillis) + 2;
  return [
    {
      ...bounded(`runs, ${who}`, runs, "<=", most, ""),
      limit: `≤ ${most} (${seconds.toFixed(1)} s / ${reconcileMillis} ms + 2)`,
    },
    {
      ...bounded(`messages stored, ${who}`, mostStored, "<=", 1 + workers, ""),
      limit: `≤ ${1 + workers} (ticket, and a mark per worker)`,
      found: `${mostStored}, in ${figure(polls)} samples`,
    },
    {
      what: `last change reconciled, ${who}`,
      limit: "yes",
      found: seen ? "yes" : "no",
      holds: seen,
    },
  ];
}

async function heat(trial: Trial, changes: number, workers: number): Promise<Heat> {
  const environment = await openTrialEnvironment(trial, { servers: 1, ackWaitMillis: 10_000 });
  const replicas = await environment.workers(workers);
  let isRunning = true;
  let mostStored = 0;
  let polls = 0;
  const polling = (async () => {
    while (isRunning) {
      mostStored = Math.max(mostStored, await stored(environment));
      polls++;
      await sleep(1);
    }
  })();
  for (let at = 0; at < changes; at++) {
    await environment.change(key, reconcileMillis);
    await sleep(pauseMillis, undefined, { signal: trial.signal });
  }
  await environment.untilQuiet();
  isRunning = false;
  await polling;
  await Promise.all(replicas.map((replica) => replica.stop()));
  const { effects } = await readJournals(environment.journals);
  const first = Math.min(...effects.map(({ from }) => from));
  const last = Math.max(...effects.map(({ to }) => to));
  return {
    runs: effects.length,
    seconds: (last - first) / 1000,
    mostStored,
    polls,
    seen: effects.some(({ version }) => version === changes),
  };
}

/** Reads the work stream first: a message that moves there from the timers in between is missed, not counted twice. */
async function stored({ bus }: TrialEnvironment): Promise<number> {
  const tickets = (await bus.jsm.streams.info(workStream(scope.fn))).state.messages;
  return tickets + (await bus.jsm.streams.info(timersStream(scope.fn))).state.messages;
}
