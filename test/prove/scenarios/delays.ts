/** Delayed requests survive the loss of all workers and of the server that stores them. */
import { setTimeout as sleep } from "node:timers/promises";
import { timersStream } from "../../../bus/subjects.ts";
import type { Child } from "../../../deploy/local/index.ts";
import { quantile } from "../../bench/statistics.ts";
import { now } from "../../harness/now.ts";
import { openTrialEnvironment, type TrialEnvironment } from "../environment.ts";
import { readJournals } from "../journal.ts";
import {
  isTimeForOperators,
  openOperatorEnvironment,
  startGo,
  startOurs,
  wordsAcrossKill,
} from "../operators.ts";
import { type DueEffect, dueBucket, scope } from "../replica.ts";
import { bounded, type Check, type Figure, figure, type Scenario, type Trial } from "../scenario.ts";
import { spreadText } from "../waits.ts";

const workers = 3;
const latenessSeconds = 1.5;
const waitMillis = 60_000;

/** When an item is due: before, during, or after the outage. */
const phases = ["before", "during", "after"] as const;

/** A delayed request. Unix milliseconds. */
interface Delayed {
  readonly key: string;
  readonly due: number;
  readonly phase: (typeof phases)[number];
}

/** The schedule, drawn before the run. Unix milliseconds. */
interface Plan {
  readonly begin: number;
  readonly kill: number;
  readonly restart: number;
  readonly end: number;
}

export const delays: Scenario = {
  number: 4,
  name: "delays",
  title:
    "10,000 delayed requests fall due before, during, and after 30 s in which all workers and NATS are dead.",
  promise: "delayed requests survive a 30 s loss of all workers and NATS",
  fullMinutes: 4,
  tested: "nightly",
  async run(trial) {
    const environment = await openTrialEnvironment(trial, {
      servers: 1,
      ackWaitMillis: trial.scaled(10_000, 3000),
    });
    const bucket = await environment.bus.kvm.create(dueBucket);
    const replicas = await environment.workers(workers);
    const plan = planOf(trial);
    const requests = draw(trial, plan, trial.scaled(10_000, 500));
    trial.say(`${figure(requests.length)} requests`);
    const asking = ask(trial, environment, requests, plan);
    asking.catch(() => undefined);
    const outage = await killAndRestart(trial, environment, replicas, plan);
    await asking;
    await environment.published();
    await until(plan.end, trial.signal);
    const effects = await allEffects(trial, bucket, requests.length);
    await environment.untilQuiet();
    const operators = isTimeForOperators(trial) ? await measureOperators(trial) : undefined;
    const fired = requests.flatMap((request): Fired[] => {
      const effect = effects.get(request.key);
      return effect ? [{ ...request, ...effect }] : [];
    });
    const seconds = figure((plan.restart - plan.kill) / 1000);
    return {
      injected: [`kill -9 of ${workers} workers and of NATS for ${seconds} s: once`],
      checks: [
        allFired(requests, fired.length, effects),
        twice(await valuesOf(environment), fired.length),
        fewLate(fired, outage),
      ],
      figures: [
        ...figuresOf(requests, fired, outage),
        {
          what: "repeated runs, second effect rejected",
          found: figure(await repeatedRuns(environment, requests)),
        },
        ...(operators ? [operatorFigure(operators)] : []),
      ],
    };
  },
};

/** Plans the run from now on. */
function planOf({ scaled }: Trial): Plan {
  const begin = Date.now();
  const kill = begin + scaled(40_000, 4500);
  const restart = kill + scaled(30_000, 4000);
  return { begin, kill, restart, end: restart + scaled(20_000, 4000) };
}

/** The loss of all processes. Unix milliseconds. */
interface Outage {
  readonly killed: number;
  /** When all processes were ready again. */
  readonly ready: number;
  /** Delayed requests on the bus when it was killed. */
  readonly waiting: number;
}

/** Kills all workers and NATS, and restarts them according to the plan. */
async function killAndRestart(
  { say, signal }: Trial,
  { bus, servers }: TrialEnvironment,
  replicas: readonly Child[],
  plan: Plan,
): Promise<Outage> {
  await until(plan.kill, signal);
  const { state } = await bus.jsm.streams.info(timersStream(scope.fn));
  await Promise.all([...replicas, ...servers].map((child) => child.stop("SIGKILL")));
  const killed = Date.now();
  say("all workers and NATS are dead");
  await until(plan.restart, signal);
  for (const server of servers) await server.start();
  await Promise.all(replicas.map((worker) => worker.start()));
  const ready = Date.now();
  say(`all processes are ready ${ready - plan.restart} ms after their restart`);
  return { killed, ready, waiting: state.messages };
}

/** A delayed request and its effect. */
interface Fired extends Delayed, DueEffect {}

/** Milliseconds after the request was due and the workers were ready. */
const lateness =
  ({ killed, ready }: Outage) =>
  ({ due, at }: Fired): number =>
    Math.max(0, at - (at > killed ? Math.max(due, ready) : due));

function fewLate(fired: readonly Fired[], outage: Outage): Check {
  const late = lateness(outage);
  const after = fired.filter(({ at }) => at > outage.killed);
  const [latest] = after.toSorted((a, b) => late(b) - late(a));
  const history = latest
    ? [
        `the latest, ${latest.key}: due ${latest.due - outage.ready} ms after everything was ready, done after ${latest.at - outage.ready} ms`,
      ]
    : [];
  const p99 = quantile(after.map(late), 0.99) / 1000;
  return bounded("lateness after the restart, p99", p99, "<=", latenessSeconds, "s", { history });
}

function figuresOf(requests: readonly Delayed[], fired: readonly Fired[], outage: Outage): Figure[] {
  const { killed, ready, waiting } = outage;
  const before = fired.filter(({ at }) => at <= killed);
  const after = fired.filter(({ at }) => at > killed);
  const overdue = after.filter(({ due }) => due < ready);
  const finishedSeconds = Math.max(0, ...overdue.map(({ at }) => at - ready)) / 1000;
  return [
    {
      what: "due before, during, and after the outage",
      found: phases
        .map((phase) => figure(requests.filter((request) => request.phase === phase).length))
        .join(", "),
    },
    { what: "delayed requests on the bus when it was killed", found: figure(waiting) },
    { what: "lateness before the outage: p50 · p99 · max", found: spreadText(before.map(lateness(outage))) },
    {
      what: "lateness after it (overdue requests: since the workers were ready)",
      found: spreadText(after.map(lateness(outage))),
    },
    {
      what: "overdue when the workers were ready, and time to finish them",
      found: `${figure(overdue.length)}, ${figure(finishedSeconds)} s`,
    },
  ];
}

/** The number of runs of due items after the first run of each. */
async function repeatedRuns({ journals }: TrialEnvironment, requests: readonly Delayed[]): Promise<number> {
  const { effects } = await readJournals(journals);
  // Both clocks are this machine's.
  const clocks = Date.now() - now();
  const dueOf = new Map(requests.map(({ key, due }) => [key, due]));
  const runs = effects.filter(({ key, from }) => from + clocks >= (dueOf.get(key) ?? 0));
  return Math.max(0, runs.length - new Set(runs.map(({ key }) => key)).size);
}

const intervalMillis = 20_000;

/** The lateness of words on a whole platform. Milliseconds. */
interface Operators {
  readonly ours: readonly number[];
  readonly go: readonly number[];
}

/** The same test for both operators: all processes are killed halfway through a delay. */
async function measureOperators(trial: Trial): Promise<Operators> {
  const environment = await openOperatorEnvironment(trial);
  const common = { count: trial.scaled(200, 50), intervalMillis };
  trial.say("the same with Hikawas on a real platform: Go");
  const go = await startGo(environment, 1);
  const theirs = await wordsAcrossKill(environment, go, { ...common, label: "go" });
  await go.stop();
  trial.say("ours");
  const operator = await startOurs(environment, trial, { bridges: 1, kill: "worker" });
  const ours = await wordsAcrossKill(environment, operator, { ...common, label: "ours" });
  await operator.stop();
  return { ours, go: theirs };
}

const operatorFigure = ({ ours, go }: Operators): Figure => ({
  what: `lateness of a word every ${intervalMillis / 1000} s on a whole platform, with the operator killed halfway: p50 · p99 · max`,
  found: spreadText(ours),
  peer: `${spreadText(go)} (timers in memory restart)`,
});

/** Draws the due times. */
function draw({ next }: Trial, plan: Plan, count: number): Delayed[] {
  const { begin, kill, restart, end } = plan;
  const spans = {
    before: [begin + (2 * (kill - begin)) / 3, kill],
    during: [kill, restart],
    after: [restart, end],
  } as const;
  return Array.from({ length: count }, (_, at) => {
    const phase = phases[at % phases.length] ?? "after";
    const [from, to] = spans[phase];
    return { key: `item-${at}`, phase, due: Math.round(from + next() * (to - from)) };
  });
}

/** Most are requested at once; the others steadily until the kill, which interrupts some of them. */
async function ask(
  { signal }: Trial,
  environment: TrialEnvironment,
  requests: readonly Delayed[],
  plan: Plan,
): Promise<void> {
  const isLast = ({ phase }: Delayed, at: number): boolean => phase !== "before" && at % 5 === 0;
  for (const { key, due } of requests.filter((request, at) => !isLast(request, at)))
    await environment.change(key, 0, due);
  const last = requests.filter(isLast);
  const from = Date.now();
  for (const [at, { key, due }] of last.entries()) {
    await until(from + ((plan.kill - from) * at) / last.length, signal);
    await environment.change(key, 0, due);
  }
}

const until = (time: number, signal: AbortSignal): Promise<void> =>
  sleep(Math.max(0, time - Date.now()), undefined, { signal });

/** Every effect by key: waits until there are `count`, or until no more can be expected. */
async function allEffects(
  { signal }: Trial,
  bucket: Awaited<ReturnType<TrialEnvironment["bus"]["kvm"]["create"]>>,
  count: number,
): Promise<Map<string, DueEffect>> {
  const deadline = Date.now() + waitMillis;
  while ((await bucket.status()).values < count && Date.now() < deadline)
    await sleep(200, undefined, { signal });
  const effects = new Map<string, DueEffect>();
  // A watch reports its last initial entry, but an empty bucket has none.
  if ((await bucket.status()).values === 0) return effects;
  const watch = await bucket.watch({ key: ">" });
  for await (const entry of watch) {
    effects.set(entry.key, entry.json<DueEffect>());
    if (entry.delta === 0) break;
  }
  return effects;
}

/** The number of effects ever stored: the bucket's stream also counts replaced ones. */
const valuesOf = async ({ bus }: TrialEnvironment): Promise<number> =>
  (await bus.jsm.streams.info(`KV_${dueBucket}`)).state.last_seq;

function allFired(
  requests: readonly Delayed[],
  fired: number,
  effects: ReadonlyMap<string, DueEffect>,
): Check {
  const missing = requests.filter(({ key }) => !effects.has(key));
  return {
    what: "delayed requests that fired",
    limit: "all of them",
    found: `${figure(fired)} of ${figure(requests.length)}`,
    holds: missing.length === 0 && requests.length > 0,
    ...(missing.length > 0 && {
      history: missing
        .slice(0, 10)
        .map(({ key, due, phase }) => `${key} was due at ${due}, ${phase} the outage, and never fired`),
    }),
  };
}

const twice = (stored: number, fired: number): Check =>
  bounded("delayed requests with a second effect", stored - fired, "=", 0, "");
