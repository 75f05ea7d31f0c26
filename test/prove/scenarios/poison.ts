/** Faulty objects among healthy ones. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { crdOf } from "../../../bus/kube/crd.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { type Bus, connectBus } from "../../../bus/nats/connect.ts";
import { deadLetters } from "../../../bus/queue/deadletters.ts";
import { ticketQueue } from "../../../bus/queue/queue.ts";
import { quantile } from "../../bench/statistics.ts";
import probe, { Probe } from "../../fixtures/functions/probe.ts";
import { type Replica, startOwnTestEnvironment, type TestEnvironment } from "../../harness/environment.ts";
import { now } from "../../harness/now.ts";
import { type Delay, followProbes, startHealthy } from "../healthy.ts";
import { bounded, type Check, figure, type Scenario, type Trial } from "../scenario.ts";

const path = fileURLToPath(new URL("../../fixtures/functions/probe.ts", import.meta.url));
const workers = 3;
const promisedMillis = 1000;
const ackWaitSeconds = 10;
const ackWaitMillis = ackWaitSeconds * 1000;
const calmMillis = { full: 20_000, least: 2000 };
/** Concurrent reconciles in one worker. */
const slots = 10;
/** The first crash raises no suspicion yet; the following three count. */
const expectedCrashes = 4;
const scope = { fn: "probe", cluster: "default" };

/** The faulty objects, and the condition reason that each must get. */
const poisons = [
  { name: "crashes", spec: { mode: "crash" }, reason: "WorkerCrashed" },
  { name: "hangs", spec: { mode: "hang" }, reason: "Retrying" },
  { name: "throws", spec: { mode: "throw" }, reason: "Retrying" },
  { name: "gives-up", spec: { mode: "terminal" }, reason: "TerminalRequested" },
  { name: "fights", spec: { mode: "fight", value: 1 }, reason: "HotLoop" },
] as const;
/** Those that are dead-lettered. */
const givenUp = ["crashes", "gives-up"];

export const poison: Scenario = {
  number: 6,
  name: "poison",
  title:
    "One object crashes its worker, one hangs, one always throws, one gives up, and one fights another writer, while other objects keep changing.",
  promise: "a faulty object delays others by at most 1 s",
  fullMinutes: 2,
  tested: "nightly",
  async run(trial) {
    const environment = await startOwnTestEnvironment({ crds: [crdOf(Probe)] });
    trial.defer(() => environment.stop());
    const bus = await connectBus({ url: environment.platform.natsUrl, name: "prove" });
    trial.defer(() => bus.nc.close());
    const env = { DENREI_ACK_WAIT_SECONDS: String(ackWaitSeconds) };
    await environment.bridge("bridge-1", { args: [path], env });
    const replicas = await Promise.all(
      Array.from({ length: workers }, (_, at) => environment.worker(`worker-${at + 1}`, [path], { env })),
    );
    const restarts = restartCrashed(replicas);
    trial.defer(restarts.stop);
    const { crashes } = restarts;
    const healthy = await startHealthy(trial, environment);
    const calm = trial.scaled(calmMillis.full, calmMillis.least);
    await sleep(calm, undefined, { signal: trial.signal });

    const conditionChecks = await addPoisons(trial, environment);
    const letters = deadLetters(bus, scope);
    const deadLettered = async () => (await letters.list()).map(({ key }) => key.name);
    const found = (await deadLettered()).sort();
    await fixPoisons(environment, bus);
    const delays = await healthy.stop();
    const left = await deadLettered();

    // At the smallest size the machine is shared. Waiting for a hanging object lasts until its time limit, so a limit somewhat
    // below that detects it on a slow machine as well.
    const limitMillis = calm === calmMillis.least ? 0.75 * probe.timeoutMillis : promisedMillis;
    const delayed = separate(delays, crashes, limitMillis);
    const ofOthers = delayed.others.map(({ millis }) => millis);
    return {
      injected: [
        ...poisons.map(({ name }) => `an object that ${name.replace("-", " ")}`),
        `${crashes.length} worker crashes`,
        `${figure(delays.length)} changes of ${healthy.objects} other objects`,
      ],
      checks: [
        ...delayChecks(delayed, crashes, limitMillis),
        bounded("workers crashed by one object", crashes.length, "=", expectedCrashes, ""),
        ...conditionChecks,
        {
          what: "dead letters",
          limit: givenUp.join(", "),
          found: found.join(", "),
          holds: JSON.stringify(found) === JSON.stringify(givenUp),
        },
        bounded("dead letters after fix and replay", left.length, "=", 0, ""),
      ],
      figures: [
        {
          what: "change to reconcile of other objects, p50 / p99",
          found: `${figure(quantile(ofOthers, 0.5))} / ${figure(quantile(ofOthers, 0.99))} ms`,
        },
      ],
    };
  },
};

/** Creates the faulty objects, and waits until each has its condition. */
async function addPoisons(trial: Trial, environment: TestEnvironment): Promise<Check[]> {
  const fighting = new AbortController();
  for (const { name, spec } of poisons) await create(environment, name, spec);
  const rival = fight(environment, fighting.signal);
  rival.catch(() => undefined);
  const checks = await Promise.all(
    poisons.map(async ({ name, reason }): Promise<Check> => {
      const found = await environment.until(
        Probe,
        at(name),
        (probe) => stalled(probe)?.reason === reason,
        180_000,
      );
      trial.say(`${name}: ${reason}`);
      return {
        what: `${name}: condition reason`,
        limit: reason,
        found: stalled(found)?.reason ?? "",
        holds: true,
      };
    }),
  );
  fighting.abort();
  await rival;
  return checks;
}

/** Fixes the faulty objects, replays their dead letters, and waits until each is ready. */
async function fixPoisons(environment: TestEnvironment, bus: Bus): Promise<void> {
  const letters = deadLetters(bus, scope);
  const queue = ticketQueue(bus, scope, { replica: "prove" });
  for (const { name } of poisons)
    await environment.client.mergePatch(Probe, at(name), { spec: { mode: "ok" } }, { fieldManager: "prove" });
  for (const name of givenUp) await letters.replay(queue, at(name));
  for (const { name } of poisons) await environment.until(Probe, at(name), isReady);
}

/** The delays of healthy objects by their cause. */
interface Delayed {
  /** In flight in a worker that crashed, and redelivered. By crash, in milliseconds of the machine's clock. */
  readonly redelivered: ReadonlyMap<number | undefined, readonly Delay[]>;
  readonly others: readonly Delay[];
}

/** Separates the delays that a redelivery after a crash explains. */
function separate(delays: readonly Delay[], crashes: readonly number[], limitMillis: number): Delayed {
  /** The crash whose redelivery ended the wait, if any. Suspects wait for each other, so the wait may end somewhat later. */
  const crashOf = ({ from, to }: Delay): number | undefined =>
    crashes.find((time) => from <= time + ackWaitMillis && to >= time + 0.9 * ackWaitMillis);
  const late = delays.filter(({ millis }) => millis > limitMillis);
  const redelivered = late.filter((delay) => crashOf(delay) !== undefined);
  // Changes made during such a wait ended with it, even if they waited only briefly.
  const endOf = ({ key, to }: Delay): string => `${key} ${to.toFixed(0)}`;
  const ends = new Set(redelivered.map(endOf));
  return {
    redelivered: Map.groupBy(redelivered, crashOf),
    others: delays.filter((delay) => !ends.has(endOf(delay))),
  };
}

function delayChecks(
  { redelivered, others }: Delayed,
  crashes: readonly number[],
  limitMillis: number,
): Check[] {
  const [worst] = others.toSorted((a, b) => b.millis - a.millis);
  const perCrash = [...redelivered.values()];
  const keys = perCrash.map((delays) => new Set(delays.map(({ key }) => key)).size);
  const longest = Math.max(0, ...perCrash.flat().map(({ millis }) => millis));
  const limitOfRedelivered = expectedCrashes * (ackWaitMillis + limitMillis);
  return [
    bounded("longest wait of another object", worst?.millis ?? Number.NaN, "<=", limitMillis, "ms", {
      ...(worst && { history: worst.history(crashes) }),
    }),
    bounded("other objects redelivered after one crash, at most", Math.max(0, ...keys), "<=", slots, ""),
    bounded("their longest wait, over several crashes", longest, "<=", limitOfRedelivered, "ms"),
  ];
}

const at = (name: string) => ({ namespace: "default", name });
const create = (environment: TestEnvironment, name: string, spec: Probe["spec"]) =>
  environment.client.create(
    Probe,
    { apiVersion: "test.denrei.dev/v1", kind: "Probe", metadata: at(name), spec },
    { fieldManager: "prove" },
  );
const conditionOf = ({ status }: Stored<Probe>, type: string) =>
  status?.conditions?.find((one) => one.type === type && one.status === "True");
const stalled = (probe: Stored<Probe>) => conditionOf(probe, "Stalled");
const isReady = (probe: Stored<Probe>): boolean =>
  conditionOf(probe, "Ready") !== undefined && stalled(probe) === undefined;

/** Restarts workers that crash, like a Deployment, and records the times by the machine's clock. */
function restartCrashed(replicas: readonly Replica[]): { readonly crashes: number[]; stop(): Promise<void> } {
  const crashes: number[] = [];
  let isStopping = false;
  const done = Promise.all(
    replicas.map(async (replica) => {
      for (;;) {
        await replica.exited();
        if (isStopping) return;
        crashes.push(now());
        // `stop` may end a worker while it starts.
        await replica.start().catch(() => undefined);
      }
    }),
  );
  return {
    crashes,
    async stop() {
      isStopping = true;
      await Promise.all(replicas.map((replica) => replica.kill()));
      await done;
    },
  };
}

/** Reverts a field each time the function sets it, as soon as the watch reports it. */
async function fight(environment: TestEnvironment, signal: AbortSignal): Promise<void> {
  const back = { spec: { value: 0 } };
  const name = "fights";
  await followProbes(environment, { fieldSelector: `metadata.name=${name}` }, signal, async ({ spec }) => {
    if (spec.value === 1)
      await environment.client.mergePatch(Probe, at(name), back, { fieldManager: "rival" });
  });
}
