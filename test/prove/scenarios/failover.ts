/** A worker dies under load: how long do its keys wait, and are other keys delayed? */
import { setTimeout as sleep } from "node:timers/promises";
import { openTrialEnvironment } from "../environment.ts";
import { type Kill, killUnderLoad, marginMillis, type Round, separate } from "../kills.ts";
import { startLoad } from "../load.ts";
import {
  isTimeForOperators,
  type Operator,
  openOperatorEnvironment,
  type Seen,
  startGo,
  startOurs,
  watchKills,
} from "../operators.ts";
import { bounded, type Check, type Figure, figure, type Scenario, type Trial } from "../scenario.ts";
import { historyOf, lastChangesSeen, type Record, recordOf } from "../verify.ts";
import { longest, spreadText, type Wait, waitsOf } from "../waits.ts";

const workers = 3;
const concurrency = 10;
const othersMillis = 200;
/** On a busy machine, a pause counts as an effect of the kill if it exceeds the normal ones by this factor. */
const busyFactor = 2;
/** Above this the machine cannot carry the load, and the run shows nothing. Milliseconds. */
const busyMillis = 1000;
const warmMillis = 1500;

const millis = (waits: readonly Wait[]): number[] => waits.map((wait) => wait.millis);
const slowest = (waits: readonly Wait[]): Wait | undefined =>
  waits.toSorted((a, b) => b.millis - a.millis)[0];

export const failover: Scenario = {
  number: 10,
  name: "failover",
  title:
    "One of three workers is killed while some hundred keys change many times a second, compared with killing the leader of an operator on controller-runtime.",
  promise: "a worker crash pauses other keys for at most 200 ms, and its own for 11 s",
  fullMinutes: 9,
  tested: "nightly",
  async run(trial) {
    const ackWaitMillis = trial.scaled(10_000, 3000);
    const kills = trial.scaled(10, 1);
    const environment = await openTrialEnvironment(trial, { servers: 1, ackWaitMillis, concurrency });
    const replicas = await environment.workers(workers);
    const load = startLoad(trial, environment, { hotKeys: trial.scaled(100, 20) });
    // The processes are cold for the first changes.
    await sleep(warmMillis, undefined, { signal: trial.signal });
    const injected = await killUnderLoad(trial, environment, replicas, { kills, ackWaitMillis });
    await load.stop();
    await environment.untilQuiet();

    const operators = isTimeForOperators(trial) ? await measureOperators(trial) : undefined;
    const record = await recordOf(environment, injected);
    const waits = waitsOf(record.changes, record.effects);
    const rounds = injected.map((kill) => separate(kill, record, waits));
    return {
      injected: [`kill -9 of one of ${workers} workers: ${kills === 1 ? "once" : `${kills} times`}`],
      checks: [
        othersUnaffected(rounds, record, kills, operators),
        ownKeysResume(rounds, record, ackWaitMillis),
        bounded(
          "tickets of the dead worker, at most",
          longest(injected.map(({ tickets }) => tickets.length)),
          "<=",
          concurrency,
          "",
        ),
        bounded(
          "in-flight keys without a ticket",
          rounds.reduce((sum, { unexplained }) => sum + unexplained, 0),
          "=",
          0,
          "",
        ),
        lastChangesSeen(record),
      ],
      figures: [
        { what: "changes", found: `${figure(load.made())}, ${figure(load.perSecond())} a second` },
        ...killFigures(injected, rounds),
        ...(operators ? operatorFigures(operators) : []),
      ],
    };
  },
};

/** The pauses of keys that the dead worker did not have in flight. */
function othersUnaffected(
  rounds: readonly Round[],
  record: Record,
  kills: number,
  operators: Operators | undefined,
): Check {
  const calm = millis(rounds.flatMap((round) => round.calm));
  const waits = rounds.flatMap((round) => round.others);
  const worst = slowest(waits);
  // The full run has the machine to itself, so the documented limit applies.
  const isFull = kills > 1;
  const limit = isFull
    ? othersMillis
    : Math.max(othersMillis, Math.min(busyFactor * longest(calm), busyMillis));
  return {
    what: "longest pause of other keys",
    limit: isFull
      ? `≤ ${othersMillis} ms`
      : `≤ ${othersMillis} ms; on a machine that is busy with something else, twice the longest without a kill, but no more than ${busyMillis / 1000} s`,
    found: `${figure(longest(millis(waits)))} ms (without a kill: ${figure(longest(calm))} ms)`,
    ...(operators && {
      peer: `${figure(longest(operators.leader.kills.flatMap(millis)) / 1000)} s, every key, without a leader`,
    }),
    holds: calm.length > 0 && longest(millis(waits)) <= limit,
    ...(worst && { history: historyOf(record, worst.key, worst.at) }),
  };
}

/** The pauses of keys that the dead worker had in flight. */
function ownKeysResume(rounds: readonly Round[], record: Record, ackWaitMillis: number): Check {
  const waits = rounds.flatMap((round) => round.own);
  const worst = slowest(waits);
  return bounded(
    "longest pause of the dead worker's keys",
    longest(millis(waits)) / 1000,
    "<=",
    (ackWaitMillis + marginMillis) / 1000,
    "s",
    { ...(worst && { history: historyOf(record, worst.key, worst.at) }) },
  );
}

const killFigures = (injected: readonly Kill[], rounds: readonly Round[]): Figure[] => [
  {
    what: "change to reconcile before a kill: p50 · p99 · max",
    found: spreadText(millis(rounds.flatMap(({ calm }) => calm))),
  },
  {
    what: "the same for other keys, within AckWait + 1 s of the kill",
    found: spreadText(millis(rounds.flatMap(({ others }) => others))),
  },
  {
    what: "tickets of the dead worker, by kill",
    found: injected.map(({ tickets }) => tickets.length).join(", "),
  },
  {
    what: "events and due requests it was routing, by kill",
    found: injected.map(({ unanswered }) => unanswered).join(", "),
  },
  {
    what: "pause of a key whose event it was routing",
    found: spreadText(millis(rounds.flatMap(({ routed }) => routed))),
  },
];

/** Kills of each part that can delay users, as seen by a user who creates Hikawas. */
interface Operators {
  readonly worker: Seen;
  readonly bridge: Seen;
  /** Of the Go operator. */
  readonly leader: Seen;
}

/** Longer than AckWait and than a change of the leader. */
const observeMillis = { ours: 13_000, go: 22_000 };

async function measureOperators(trial: Trial): Promise<Operators> {
  const environment = await openOperatorEnvironment(trial);
  const watched = async (
    label: string,
    operator: Operator,
    observed: number,
    most: number,
  ): Promise<Seen> => {
    const kills = trial.scaled(most, 1);
    trial.say(`${kills} kills on a real platform: ${label}`);
    const seen = await watchKills(environment, operator, { label, kills, observeMillis: observed });
    await operator.stop();
    return seen;
  };
  return {
    leader: await watched("go", await startGo(environment, 2), observeMillis.go, 3),
    worker: await watched(
      "worker",
      await startOurs(environment, trial, { bridges: 1, kill: "worker" }),
      observeMillis.ours,
      6,
    ),
    bridge: await watched(
      "bridge",
      await startOurs(environment, trial, { bridges: 2, kill: "bridge" }),
      observeMillis.ours,
      3,
    ),
  };
}

function operatorFigures({ worker, bridge, leader }: Operators): Figure[] {
  const longestOf = (seen: Seen): string =>
    seen.kills.map((waits) => figure(longest(millis(waits)) / 1000)).join(", ");
  const pausedBy = (seen: Seen): string =>
    seen.kills.map((waits) => figure(waits.filter((wait) => wait.millis > 1000).length)).join(", ");
  return [
    {
      what: "create to first word on a whole platform, before a kill: p50 · p99 · max",
      found: spreadText(millis([...worker.calm, ...bridge.calm])),
      peer: spreadText(millis(leader.calm)),
    },
    {
      what: "the same after killing a worker (Go: the leader), longest in s",
      found: longestOf(worker),
      peer: longestOf(leader),
    },
    {
      what: "the same after killing the leading bridge, longest in s",
      found: longestOf(bridge),
      peer: "(the leader watches)",
    },
    {
      what: "Hikawas delayed over 1 s, of two or three a second: worker or leader killed",
      found: pausedBy(worker),
      peer: pausedBy(leader),
    },
    { what: "the same: bridge killed", found: pausedBy(bridge) },
  ];
}
