/** Objects change while no worker runs; workers that start catch up, and start quickly. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Kind } from "../../../bus/kube/kind.ts";
import { controllerOf } from "../../../bus/kube/object.ts";
import { connectBus } from "../../../bus/nats/connect.ts";
import { objectStore } from "../../../bus/objects/store.ts";
import { Hikawa, Zundoko } from "../../../functions/zundoko/kinds.ts";
import { differences } from "../../harness/agreement.ts";
import { type Replica, startOwnTestEnvironment, type TestEnvironment } from "../../harness/environment.ts";
import { hikawa } from "../../harness/song.ts";
import { slowness } from "../pace.ts";
import { bounded, figure, type Outcome, type Scenario, type Trial } from "../scenario.ts";

/** The first word comes at once and the next one tomorrow, so an object is settled after one reconcile. Milliseconds. */
const tomorrow = 86_400_000;
const deadlineMillis = 120_000;
const coldStartMillis = 500;
const leastSize = 60;

const at = (name: string) => ({ namespace: "default", name });

export const zero: Scenario = {
  number: 11,
  name: "zero",
  title: "All workers stop, objects change, and workers start again; also cold starts of one worker.",
  promise: "workers scaled to zero catch up; a cold start takes at most 500 ms",
  fullMinutes: 3,
  tested: "nightly",
  async run(trial) {
    const environment = await startOwnTestEnvironment();
    trial.defer(() => environment.stop());
    const [worker, second] = await Promise.all([
      environment.worker("worker-1", ["hikawa"]),
      environment.worker("worker-2", ["hikawa"]),
      environment.bridge("bridge-1"),
    ]);
    // The desired interval of each object, changed while no worker runs.
    const desired = new Map<string, number>();
    const size = trial.scaled(400, leastSize);
    const rounds = trial.scaled(4, 2);
    const lost: string[] = [];
    const seconds: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await Promise.all([worker, second].map((one) => (round % 2 === 0 ? one.stop() : one.kill())));
      await changeAtRandom(trial, environment, desired, size, `round-${round}`);
      trial.say(`round ${round + 1}: ${desired.size} objects, no worker runs`);
      const begun = performance.now();
      await Promise.all([worker.start(), second.start()]);
      lost.push(...(await untilCaughtUp(environment, desired)));
      seconds.push((performance.now() - begun) / 1000);
    }
    await second.stop();
    const smallest = size === leastSize;
    // The full run has the machine to itself, so the documented limit applies.
    const slow = smallest ? await slowness(trial.signal) : 1;
    const cold = await coldStarts(trial, environment, worker, desired, coldStartMillis * slow);
    return outcome(cold, { rounds, size, lost, seconds, slow, smallest });
  },
};

/** Creates objects, and changes and deletes some of the existing ones. */
async function changeAtRandom(
  trial: Trial,
  environment: TestEnvironment,
  desired: Map<string, number>,
  size: number,
  prefix: string,
): Promise<void> {
  const old = [...desired.keys()];
  for (let i = 0; i < size; i++) {
    const name = `${prefix}-${i}`;
    await environment.client.create(Hikawa, hikawa(name, tomorrow), { fieldManager: "trial" });
    desired.set(name, tomorrow);
    const [other = name] = trial.next() < 0.5 ? [name] : [old[Math.floor(trial.next() * old.length)]];
    if (!desired.has(other)) continue;
    if (trial.next() < 0.3) {
      await environment.client.delete(Hikawa, at(other), {});
      desired.delete(other);
    } else await change(environment, desired, other);
  }
}

async function change(
  environment: TestEnvironment,
  desired: Map<string, number>,
  name: string,
): Promise<void> {
  const pause = (desired.get(name) ?? tomorrow) - 1;
  await environment.client.mergePatch(
    Hikawa,
    at(name),
    { spec: { intervalMillis: pause } },
    { fieldManager: "trial" },
  );
  desired.set(name, pause);
}

/** Waits for the differences to disappear, and returns the remaining ones. */
async function untilCaughtUp(
  environment: TestEnvironment,
  desired: ReadonlyMap<string, number>,
): Promise<string[]> {
  const bus = await connectBus({ url: environment.platform.natsUrl, name: "trial" });
  const store = objectStore(bus, "default");
  try {
    let found = ["nothing was compared"];
    for (const until = performance.now() + deadlineMillis; performance.now() < until; await sleep(100)) {
      found = [
        ...(await unfinished(environment, desired)),
        ...(await differences(environment.client, store, Hikawa as Kind)),
        ...(await differences(environment.client, store, Zundoko as Kind)),
      ];
      if (found.length === 0) break;
    }
    return found;
  } finally {
    await bus.nc.close();
  }
}

/** Objects that differ from their desired state, or whose current generation is not reconciled. */
async function unfinished(
  environment: TestEnvironment,
  desired: ReadonlyMap<string, number>,
): Promise<string[]> {
  const [hikawas, words] = await Promise.all([environment.list(Hikawa), environment.list(Zundoko)]);
  const objects = new Map(hikawas.map((object) => [object.metadata.name, object]));
  const wordsByOwner = Map.groupBy(words, (word) => controllerOf(word)?.uid);
  return [...new Set([...desired.keys(), ...objects.keys()])].flatMap((name) => {
    const object = objects.get(name);
    const pause = desired.get(name);
    if (object === undefined || pause === undefined)
      return [`${name}: expected ${pause}, found ${object?.spec.intervalMillis}`];
    const { metadata, spec, status } = object;
    const children = wordsByOwner.get(metadata.uid)?.length ?? 0;
    const right =
      spec.intervalMillis === pause &&
      status?.observedGeneration === metadata.generation &&
      status?.numZundokosSaid === 1 &&
      children === 1;
    if (right) return [];
    const is = JSON.stringify({ generation: metadata.generation, spec, status, children });
    return [`${name}: expected a pause of ${pause}, reconciled, with one word; found ${is}`];
  });
}

/** The cost of a start. */
interface ColdStart {
  /** From spawn to the end of the first reconcile. */
  readonly reconciledMillis: number;
  readonly readyMillis: number;
  readonly mebibytes: number;
}

/**
 * Starts a worker repeatedly, with one object to reconcile each time. At the smallest size it makes a few more attempts if none
 * was quick enough, because other load on the machine varies.
 */
async function coldStarts(
  trial: Trial,
  environment: TestEnvironment,
  worker: Replica,
  desired: Map<string, number>,
  quickMillis: number,
): Promise<ColdStart[]> {
  const starts: ColdStart[] = [];
  const names = [...desired.keys()];
  const smallest = trial.scaled(15, 5) === 5;
  const enough = (): boolean =>
    starts.length >= (smallest ? 5 : 15) &&
    (!smallest ||
      starts.length >= 15 ||
      starts.some(({ reconciledMillis }) => reconciledMillis <= quickMillis));
  while (!enough()) {
    const name = names[Math.floor(trial.next() * names.length)] ?? "";
    await worker.stop();
    await change(environment, desired, name);
    const before = worker.log.records().length;
    const spawned = Date.now();
    await worker.start();
    await worker.log.until(
      () =>
        worker.log
          .records()
          .slice(before)
          .some(({ msg }) => msg === "reconciled"),
      deadlineMillis,
    );
    const logged = (message: string): number => {
      const record = worker.log
        .records()
        .slice(before)
        .find(({ msg }) => msg === message);
      return Date.parse(String(record?.time)) - spawned;
    };
    starts.push({
      reconciledMillis: logged("reconciled"),
      readyMillis: logged("worker ready"),
      mebibytes: residentMebibytes(worker.pid),
    });
  }
  return starts;
}

/** Memory of a process, if the system reports it. */
function residentMebibytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;

function outcome(
  cold: readonly ColdStart[],
  facts: {
    readonly rounds: number;
    readonly size: number;
    readonly lost: readonly string[];
    readonly seconds: readonly number[];
    /** How many times longer than on a quick machine a start may take. */
    readonly slow: number;
    readonly smallest: boolean;
  },
): Outcome {
  const { rounds, size, lost, seconds, slow, smallest } = facts;
  const reconciled = cold.map(({ reconciledMillis }) => reconciledMillis);
  // At the smallest size other tests share the machine, so the least disturbed start counts.
  const [which, found] = smallest ? ["best", Math.min(...reconciled)] : ["median", median(reconciled)];
  const limited = bounded(
    `cold start to the end of the first reconcile, ${which} of ${cold.length}`,
    found,
    "<=",
    coldStartMillis * slow,
    "ms",
  );
  return {
    injected: [
      `all workers stopped (SIGTERM) or killed (SIGKILL), ${rounds} times, while ${size} objects are created and others changed and deleted`,
      `${cold.length} starts of a worker with one object to reconcile`,
    ],
    checks: [
      bounded("objects not caught up", lost.length, "=", 0, "", { history: lost }),
      {
        ...limited,
        ...(slow > 1 && {
          limit: `${limited.limit}: ${coldStartMillis} ms, on a machine that is ${figure(slow)} times as slow`,
        }),
      },
    ],
    figures: [
      { what: "cold starts to the end of the first reconcile", found: `${reconciled.join(", ")} ms` },
      {
        what: "cold start to ready, median",
        found: `${median(cold.map(({ readyMillis }) => readyMillis))} ms`,
      },
      {
        what: "memory of a started worker, median",
        found: `${Math.round(median(cold.map(({ mebibytes }) => mebibytes)))} MiB`,
      },
      {
        what: "start of two workers to everything caught up",
        found: `${seconds.map((one) => one.toFixed(1)).join(", ")} s`,
      },
    ],
  };
}
