/**
 * Runs the Zundoko operator on a real platform, on Denrei or in Go on controller-runtime, and measures how long users wait for
 * Hikawas when a part of it dies.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { holderIn } from "../../bus/bridge/lease.ts";
import { leaseKey } from "../../bus/bridge/position.ts";
import { resourcePath } from "../../bus/kube/client.ts";
import { connectBus } from "../../bus/nats/connect.ts";
import { bridgeBucket } from "../../bus/subjects.ts";
import type { Child } from "../../deploy/local/index.ts";
import { Hikawa, Zundoko } from "../../functions/zundoko/kinds.ts";
import { words } from "../bench/contender.ts";
import { buildPeer, startGoReplica } from "../bench/gopeer.ts";
import { createHikawa, type HikawaEnvironment, namesOf, watchKind } from "../bench/hikawas.ts";
import { type OwnTestEnvironment, startOwnTestEnvironment } from "../harness/environment.ts";
import { now } from "../harness/now.ts";
import type { Trial } from "./scenario.ts";
import type { Wait } from "./waits.ts";

/** A platform on which the operators run one after the other. */
export interface OperatorEnvironment extends HikawaEnvironment {
  readonly environment: OwnTestEnvironment;
}

/** Whether there is time for steps that take minutes at any size. */
export const isTimeForOperators = ({ peer, scaled }: Trial): boolean =>
  peer === "measure" && scaled(10, 0) >= 2;

/** Starts the platform and builds the Go operator. */
export async function openOperatorEnvironment(trial: Trial): Promise<OperatorEnvironment> {
  await buildPeer(trial.signal);
  const environment = await startOwnTestEnvironment();
  trial.defer(() => environment.stop());
  const broken = new AbortController();
  return {
    environment,
    client: environment.client,
    namespace: "default",
    // A broken watch ends the scenario, because it would miss words.
    signal: AbortSignal.any([trial.signal, broken.signal]),
    fail: (error) => broken.abort(error),
  };
}

/** A running operator. */
export interface Operator {
  /** All of its processes; those that others depend on come first. */
  readonly parts: readonly Child[];
  /** The process to kill. */
  victim(): Promise<Child>;
  /** Resolves when the restarted victim has its former role again. */
  restored(): Promise<void>;
  stop(): Promise<void>;
}

/** The part of Denrei to kill. */
export type Role = "worker" | "bridge";

/** Starts the operator on Denrei: three workers and this many bridges. */
export async function startOurs(
  { environment }: OperatorEnvironment,
  trial: Trial,
  { bridges, kill }: { readonly bridges: 1 | 2; readonly kill: Role },
): Promise<Operator> {
  const options = { env: { DENREI_ZUNDOKO_WORDS: words.join(","), DENREI_LOG_LEVEL: "info" } };
  const label = `${kill}-of-${bridges}`;
  const bridge = (at: number) => environment.bridge(`bridge-${at}-${label}`, options);
  const bridgeReplicas = [await bridge(1), ...(bridges === 2 ? [await bridge(2)] : [])];
  const workerReplicas = await Promise.all(
    [1, 2, 3].map((at) => environment.worker(`worker-${at}-${label}`, ["hikawa"], options)),
  );
  /** The bridge that watches Hikawas. */
  async function leader(): Promise<Child> {
    const bus = await connectBus({ url: environment.platform.natsUrl, name: "prove" });
    try {
      const lease = await (await bus.kvm.open(bridgeBucket)).get(leaseKey("default", Hikawa));
      const holder = bridgeReplicas.find(({ name }) => name === holderIn(lease?.string() ?? ""));
      if (holder === undefined) throw new Error(`expected a bridge to lead, found ${lease?.string()}`);
      return holder;
    } finally {
      await bus.nc.close();
    }
  }
  const replicas = [...bridgeReplicas, ...workerReplicas];
  return {
    parts: [environment.platform.nats, ...replicas],
    victim: async () =>
      kill === "bridge"
        ? leader()
        : (workerReplicas[Math.floor(trial.next() * workerReplicas.length)] as Child),
    restored: () => Promise.resolve(),
    async stop() {
      await Promise.all(replicas.map((replica) => replica.stop()));
    },
  };
}

/** Starts the operator in Go: two replicas with leader election, or one without it. */
export async function startGo({ environment }: OperatorEnvironment, replicas: 1 | 2): Promise<Operator> {
  const election = replicas === 2 ? "elect" : "alone";
  let leader = await startGoReplica(environment.platform, `go-1-${election}`, election);
  await leader.leads();
  let standby =
    replicas === 2 ? await startGoReplica(environment.platform, `go-2-${election}`, election) : leader;
  const parts = [...new Set([leader, standby])];
  return {
    parts,
    victim: () => Promise.resolve(leader),
    async restored() {
      await standby.leads();
      [leader, standby] = [standby, leader];
    },
    async stop() {
      await Promise.all(parts.map((part) => part.stop()));
    },
  };
}

/** The delays that users saw around kills. */
export interface Seen {
  /** From create to first word, of Hikawas that had their word before a kill. */
  readonly calm: readonly Wait[];
  /** Of Hikawas that waited during a kill or were created within the observed time after it. */
  readonly kills: readonly (readonly Wait[])[];
}

/** Steady enough to reveal a pause, and far below either operator's capacity. Milliseconds. */
const createEveryMillis = 400;
const calmMillis = 4000;

/** Creates Hikawas steadily, kills the operator's victim repeatedly, and observes each kill for `observeMillis`. */
export async function watchKills(
  environment: OperatorEnvironment,
  operator: Operator,
  {
    label,
    kills,
    observeMillis,
  }: { readonly label: string; readonly kills: number; readonly observeMillis: number },
): Promise<Seen> {
  const { signal } = environment;
  const created = new Map<string, number>();
  const firstWords = new Map<string, number>();
  const unwatch = await watchKind(environment, Zundoko, ({ metadata }, type) => {
    const name = metadata.name.replace(/-zundoko-\d+$/, "");
    if (type === "ADDED" && !firstWords.has(name)) firstWords.set(name, now());
  });
  let isRunning = true;
  const load = (async () => {
    for (let at = 1; isRunning; at++) {
      const name = `${label}-${String(at).padStart(5, "0")}`;
      created.set(name, now());
      await createHikawa(environment, name, 0);
      await sleep(Math.max(0, createEveryMillis - (now() - (created.get(name) ?? 0))), undefined, { signal });
    }
  })();
  load.catch(() => undefined);
  const rounds: { from: number; to: number }[] = [];
  try {
    // The processes are cold for the first Hikawas.
    await sleep(calmMillis / 2, undefined, { signal });
    const begun = now();
    for (let at = 0; at < kills; at++) {
      await sleep(calmMillis, undefined, { signal });
      const victim = await operator.victim();
      const from = now();
      await victim.stop("SIGKILL");
      await sleep(observeMillis, undefined, { signal });
      rounds.push({ from, to: now() });
      await victim.start();
      await operator.restored();
    }
    isRunning = false;
    await load;
    await until(
      environment,
      () => [...created.keys()].every((name) => firstWords.has(name)),
      "every Hikawa to have its first word",
    );
    const waits = [...created].map(
      ([key, at]): Wait => ({ key, at, millis: (firstWords.get(key) ?? at) - at }),
    );
    return {
      calm: waits.filter(
        ({ at, millis }) =>
          at > begun && rounds.some(({ from }) => at + millis <= from && at > from - calmMillis),
      ),
      kills: rounds.map(({ from, to }) => waits.filter(({ at, millis }) => at + millis > from && at < to)),
    };
  } finally {
    isRunning = false;
    unwatch();
  }
}

/**
 * Measures how late words are, in milliseconds. `count` Hikawas emit a word every `intervalMillis`. Halfway through an interval, all
 * processes of the operator are killed (-9) and restarted at once. The second word is the first one that waits.
 */
export async function wordsAcrossKill(
  environment: OperatorEnvironment,
  operator: Operator,
  options: { readonly label: string; readonly count: number; readonly intervalMillis: number },
): Promise<number[]> {
  const { label, count, intervalMillis } = options;
  const names = namesOf(label, count);
  const wordTimes = new Map<string, number[]>(names.map((name) => [name, []]));
  const unwatch = await watchKind(environment, Zundoko, ({ metadata }, type) => {
    if (type === "ADDED") wordTimes.get(metadata.name.replace(/-zundoko-\d+$/, ""))?.push(now());
  });
  try {
    const begun = now();
    for (const name of names) await createHikawa(environment, name, intervalMillis);
    await sleep(begun + intervalMillis / 2 - now(), undefined, { signal: environment.signal });
    await Promise.all(operator.parts.map((part) => part.stop("SIGKILL")));
    const [bus, ...others] = operator.parts;
    await bus?.start();
    await Promise.all(others.map((part) => part.start()));
    await until(environment, () => [...wordTimes.values()].every((times) => times.length >= 2), "every word");
    // The next operator must not find them.
    const path = resourcePath(Hikawa, environment.namespace);
    await environment.client.request({ method: "DELETE", path, signal: environment.signal });
    return names.map((name) => {
      const [first = 0, second = 0] = wordTimes.get(name) ?? [];
      return second - first - intervalMillis;
    });
  } finally {
    unwatch();
  }
}

const deadlineMillis = 120_000;

async function until({ signal }: OperatorEnvironment, condition: () => boolean, what: string): Promise<void> {
  const deadline = now() + deadlineMillis;
  while (!condition()) {
    if (now() > deadline) throw new Error(`expected ${what} within ${deadlineMillis} ms`);
    await sleep(50, undefined, { signal });
  }
}
