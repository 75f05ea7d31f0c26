/** Faulty objects among healthy ones. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { crdOf } from "../../../bus/kube/crd.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { connectBus } from "../../../bus/nats/connect.ts";
import { deadLetters } from "../../../bus/queue/deadletters.ts";
import { ticketQueue } from "../../../bus/queue/queue.ts";
import { quantile } from "../../bench/statistics.ts";
import probe, { Probe } from "../../fixtures/functions/probe.ts";
import { type Replica, startOwnTestEnvironment, type TestEnvironment } from "../../harness/environment.ts";
import { type Delay, followProbes, startHealthy } from "../healthy.ts";
import { now } from "../journal.ts";
import { bounded, type Check, figure, type Scenario } from "../scenario.ts";

const path = fileURLToPath(new URL("../../fixtures/functions/probe.ts", import.meta.url));
const workers = 3;
const promisedMillis = 1000;
const ackWaitSeconds = 10;
const calmMillis = { full: 20_000, least: 2000 };
/** Concurrent reconciles in one worker. */
const slots = 10;
/** The first crash raises no suspicion yet; the following three count. */
const deaths = 4;
const scope = { fn: "probe", cluster: "default" };

/** The faulty objects, and the condition reason that each must get. */
const poisons = [
  { name: "crashes", spec: { mode: "crash" }, reason: "WorkerCrashed" },
  { name: "hangs", spec: { mode: "hang" }, reason: "Retrying" },
  { name: "throws", spec: { mode: "throw" }, reason: "Retrying" },
  { name: "gives-up", spec: { mode: "terminal" }, reason: "ToldSo" },
  { name: "fights", spec: { mode: "fight", value: 1 }, reason: "HotLoop" },
] as const;

export const poison: Scenario = {
  number: 6,
  name: "poison",
  title:
    "One object crashes its worker, one hangs, one always throws, one gives up, and one fights another writer, while other objects keep changing.",
  promise: "a faulty object delays others by at most 1 s",
  fullMinutes: 2,
  tested: "nightly",
  async run(trial) {
    const kit = await startOwnTestEnvironment({ crds: [crdOf(Probe)] });
    trial.defer(() => kit.stop());
    const bus = await connectBus({ url: kit.platform.natsUrl, name: "prove" });
    trial.defer(() => bus.nc.close());
    const env = { DENREI_ACK_WAIT_SECONDS: String(ackWaitSeconds) };
    await kit.bridge("bridge-1", { args: [path], env });
    const replicas = await Promise.all(
      Array.from({ length: workers }, (_, at) => kit.worker(`worker-${at + 1}`, [path], { env })),
    );
    const revived = reviving(replicas);
    trial.defer(revived.stop);
    const healthy = await startHealthy(trial, kit);
    const fighting = new AbortController();
    const calm = trial.scaled(calmMillis.full, calmMillis.least);
    await sleep(calm, undefined, { signal: trial.signal });

    for (const { name, spec } of poisons) await create(kit, name, spec);
    const rival = fight(kit, fighting.signal);
    rival.catch(() => undefined);
    const conditionChecks: Check[] = await Promise.all(
      poisons.map(async ({ name, reason }) => {
        const found = await kit.until(Probe, at(name), (probe) => stalled(probe)?.reason === reason, 180_000);
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
    const letters = deadLetters(bus, scope);
    const given = ["crashes", "gives-up"];
    const buried = (await letters.list()).map(({ key }) => key.name).sort();
    const queue = ticketQueue(bus, scope, { replica: "prove" });
    for (const { name } of poisons)
      await kit.client.mergePatch(Probe, at(name), { spec: { mode: "ok" } }, { fieldManager: "prove" });
    for (const name of given) await letters.replay(queue, at(name));
    for (const { name } of poisons) await kit.until(Probe, at(name), isReady);
    const delays = await healthy.stop();
    const left = (await letters.list()).map(({ key }) => key.name);

    const ackWaitMillis = ackWaitSeconds * 1000;
    // At the smallest size the machine is shared. Waiting for a hanging object lasts until its time limit, so a limit somewhat
    // below that detects it on a slow machine as well.
    const limitMillis = calm === calmMillis.least ? 0.75 * probe.timeoutMillis : promisedMillis;
    /** The crash whose redelivery ended the wait, if any. Suspects wait for each other, so the wait may end somewhat later. */
    const redelivered = ({ from, to }: Delay): number | undefined =>
      revived.deaths.find((time) => from <= time + ackWaitMillis && to >= time + 0.9 * ackWaitMillis);
    const late = delays.filter(({ millis }) => millis > limitMillis);
    const inFlight = late.filter((one) => redelivered(one) !== undefined);
    // Changes made during such a wait ended with it, even if they waited only briefly.
    const waits = new Set(inFlight.map(({ key, to }) => `${key} ${to.toFixed(0)}`));
    const others = delays.filter(({ key, to }) => !waits.has(`${key} ${to.toFixed(0)}`));
    const ofOthers = others.map(({ millis }) => millis);
    const worst = others.toSorted((a, b) => b.millis - a.millis)[0];
    const perDeath = [...Map.groupBy(inFlight, redelivered).values()].map(
      (list) => new Set(list.map(({ key }) => key)).size,
    );
    return {
      injected: [
        ...poisons.map(({ name }) => `an object that ${name.replace("-", " ")}`),
        `${revived.deaths.length} worker crashes`,
        `${figure(delays.length)} changes of ${healthy.objects} other objects`,
      ],
      checks: [
        bounded("longest wait of another object", worst?.millis ?? Number.NaN, "<=", limitMillis, "ms", {
          ...(worst && { history: worst.history(revived.deaths) }),
        }),
        bounded(
          "other objects redelivered after one crash, at most",
          Math.max(0, ...perDeath),
          "<=",
          slots,
          "",
        ),
        bounded(
          "their longest wait, over several crashes",
          Math.max(0, ...inFlight.map(({ millis }) => millis)),
          "<=",
          deaths * (ackWaitMillis + limitMillis),
          "ms",
        ),
        bounded("workers crashed by one object", revived.deaths.length, "=", deaths, ""),
        ...conditionChecks,
        {
          what: "dead letters",
          limit: given.join(", "),
          found: buried.join(", "),
          holds: JSON.stringify(buried) === JSON.stringify(given),
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

const at = (name: string) => ({ namespace: "default", name });
const create = (kit: TestEnvironment, name: string, spec: Probe["spec"]) =>
  kit.client.create(
    Probe,
    { apiVersion: "test.denrei.dev/v1", kind: "Probe", metadata: at(name), spec },
    { fieldManager: "prove" },
  );
const conditionOf = ({ status }: Stored<Probe>, type: string) =>
  status?.conditions?.find((one) => one.type === type && one.status === "True");
const stalled = (probe: Stored<Probe>) => conditionOf(probe, "Stalled");
const isReady = (probe: Stored<Probe>): boolean =>
  conditionOf(probe, "Ready") !== undefined && stalled(probe) === undefined;

/** Restarts workers that die, like a Deployment, and records the times by the machine's clock. */
function reviving(replicas: readonly Replica[]): { readonly deaths: number[]; stop(): Promise<void> } {
  const deaths: number[] = [];
  let going = true;
  const done = Promise.all(
    replicas.map(async (replica) => {
      for (;;) {
        await replica.exited();
        if (!going) return;
        deaths.push(now());
        // `stop` may end a worker while it starts.
        await replica.start().catch(() => undefined);
      }
    }),
  );
  return {
    deaths,
    async stop() {
      going = false;
      await Promise.all(replicas.map((replica) => replica.kill()));
      await done;
    },
  };
}

/** Reverts a field each time the function sets it, as soon as the watch reports it. */
async function fight(kit: TestEnvironment, over: AbortSignal): Promise<void> {
  const back = { spec: { value: 0 } };
  const name = "fights";
  await followProbes(kit, { fieldSelector: `metadata.name=${name}` }, over, async ({ spec }) => {
    if (spec.value === 1) await kit.client.mergePatch(Probe, at(name), back, { fieldManager: "rival" });
  });
}
