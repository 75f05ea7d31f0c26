/** Webhooks from GitHub to a reconcile while every process on the way is killed. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { crdOf } from "../../../bus/kube/crd.ts";
import { type Bus, connectBus } from "../../../bus/nats/connect.ts";
import { deadLetters } from "../../../bus/queue/deadletters.ts";
import { deliveries as storedDeliveries } from "../../../bus/webhooks/history.ts";
import type { Child } from "../../../deploy/local/index.ts";
import { Branch } from "../../fixtures/functions/branches.ts";
import { concurrently } from "../../harness/concurrently.ts";
import {
  type GatewayReplica,
  type OwnTestEnvironment,
  type Replica,
  startOwnTestEnvironment,
} from "../../harness/environment.ts";
import { now } from "../../harness/now.ts";
import { type Hook, hookOf, push } from "../../harness/webhooks.ts";
import { anyOf, describeFaults, type Fault, startFaults } from "../faults.ts";
import { type Check, figure, noneOf, type Scenario, type Trial } from "../scenario.ts";

const functionPath = fileURLToPath(new URL("../../fixtures/functions/branches.ts", import.meta.url));
const replicas = 3;
/** Concurrent senders. */
const senders = 20;
/** Longest pause of a sender; half of it on average. Some deliveries must be in flight during each fault. */
const slowMillis = 1000;
const fastMillis = 200;
/** The interval between kills. */
const everyMillis = 500;
/** Duration of one reconcile: long enough that kills interrupt some. */
const reconcileMillis = 20;
/** GitHub's timeout for a response. */
const answerMillis = 10_000;
const quietMillis = 120_000;

/** A delivery, and how often it was sent until it was accepted. */
interface Sent {
  readonly hook: Hook;
  readonly key: string;
  attempts: number;
}

export const webhooks: Scenario = {
  number: 13,
  name: "webhooks",
  title:
    "Signed deliveries, each for its own object, are posted to three gateways while a gateway, a worker, the bridge, or NATS is killed every half second.",
  promise: "no accepted delivery is lost",
  fullMinutes: 6,
  // test/gateway and test/e2e/webhooks.test.ts cover each of its faults as well.
  tested: "nightly",
  async run(trial) {
    const keys = Array.from({ length: trial.scaled(10_000, 400) }, (_, at) => `branch-${at}`);
    const processes = await startProcesses(trial);
    const bus = await connectBus({ url: processes.environment.platform.natsUrl, name: "prove" });
    trial.defer(() => bus.nc.close());
    await createBranches(trial, processes, keys);
    const { sent, injected } = await sendUnderFaults(trial, processes, keys);
    const deadLettered = async (): Promise<Set<string>> => {
      const letters = await deadLetters(bus, { fn: "branches", cluster: "default" }).list();
      return new Set(letters.map(({ key }) => key.name));
    };
    const left = await unreconciled(trial, processes, sent, deadLettered);
    const stored = await storedCounts(bus);
    return {
      injected,
      checks: checksOf(keys.length, sent, left, stored, reconcilesBy(processes.workers)),
      figures: [
        {
          what: "deliveries resent after an error or no answer",
          found: figure(sent.filter(({ attempts }) => attempts > 1).length),
        },
        {
          what: "duplicate deliveries on the bus",
          found: figure([...stored.values()].filter((times) => times > 1).length),
        },
        {
          what: "dead letters (three workers killed in a row)",
          found: figure((await deadLettered()).size),
        },
      ],
    };
  },
};

/** The processes on the way from GitHub to a reconcile. */
interface Processes {
  readonly environment: OwnTestEnvironment;
  readonly gateways: readonly GatewayReplica[];
  readonly bridge: Replica;
  readonly workers: readonly Replica[];
}

async function startProcesses({ defer, scaled }: Trial): Promise<Processes> {
  const environment = await startOwnTestEnvironment({ crds: [crdOf(Branch)] });
  defer(() => environment.stop());
  const env = { DENREI_LOG_LEVEL: "info", DENREI_ACK_WAIT_SECONDS: String(scaled(10, 3)) };
  const bridge = await environment.bridge("bridge-1", { args: [functionPath], env });
  const numbers = Array.from({ length: replicas }, (_, at) => at + 1);
  const [workers, gateways] = await Promise.all([
    Promise.all(numbers.map((n) => environment.worker(`worker-${n}`, [functionPath], { env }))),
    Promise.all(numbers.map((n) => environment.gateway(`gateway-${n}`, { env }))),
  ]);
  return { environment, gateways, bridge, workers };
}

/** Creates an object for each delivery, and waits until each was reconciled. */
async function createBranches(
  trial: Trial,
  { environment, workers }: Processes,
  names: readonly string[],
): Promise<void> {
  await concurrently(names, senders, (name) =>
    environment.client.create(
      Branch,
      {
        apiVersion: "test.denrei.dev/v1",
        kind: "Branch",
        metadata: { namespace: "default", name },
        spec: { repository: "acme/web", branch: name, millis: reconcileMillis },
      },
      { fieldManager: "prove" },
    ),
  );
  const areReconciled = async () => new Set(reconcilesBy(workers).keys).size === names.length;
  if (!(await comesTrue(trial, areReconciled)))
    throw new Error(`expected within ${quietMillis} ms that each object was reconciled`);
  trial.say(`${figure(names.length)} objects reconciled`);
}

/** Sends one delivery for each key while processes are killed. */
async function sendUnderFaults(
  trial: Trial,
  { environment, gateways, bridge, workers }: Processes,
  keys: readonly string[],
): Promise<{ readonly sent: readonly Sent[]; readonly injected: readonly string[] }> {
  const kills = new OverlappingKills(trial.next);
  const kinds = [
    kills.of("a gateway", gateways),
    kills.of("a worker", workers),
    kills.of("the bridge", [bridge]),
    kills.of("NATS", [environment.platform.nats]),
  ];
  const faults = startFaults(trial, kinds, everyMillis);
  const sent: Sent[] = [];
  await concurrently(keys, senders, async (key) => {
    const one: Sent = { key, hook: hookOf("push", push("acme/web", key)), attempts: 0 };
    await sleep((faults.isEachInjected() ? fastMillis : slowMillis) * trial.next());
    await send(trial, one, gateways);
    sent.push(one);
    if (sent.length % 1000 === 0)
      trial.say(`${figure(sent.length)} accepted, ${faults.injected.length} faults`);
  });
  await faults.eachOnce;
  await faults.stop();
  await kills.untilRestarted();
  return { sent, injected: describeFaults(kinds, faults.injected) };
}

/** `kill -9` of processes, whose restarts overlap with the next kills. */
class OverlappingKills {
  readonly #next: () => number;
  /** The restarts in progress. */
  readonly #down = new Map<Child, Promise<void>>();

  constructor(next: () => number) {
    this.#next = next;
  }

  /** Kills one of these processes that is running. Waits if none is. */
  of(what: string, children: readonly Child[]): Fault {
    const running = () => children.filter((child) => !this.#down.has(child));
    return {
      name: `kill -9 of ${what}`,
      inject: async () => {
        if (running().length === 0) await Promise.race(children.map((child) => this.#down.get(child)));
        const child = anyOf(running(), this.#next)();
        const from = now();
        await child.stop("SIGKILL");
        const restarted = child.start().then(() => void this.#down.delete(child));
        // `untilRestarted` reports the error.
        restarted.catch(() => undefined);
        this.#down.set(child, restarted);
        return { victim: child.name, from };
      },
    };
  }

  /** Resolves when all processes run again. */
  async untilRestarted(): Promise<void> {
    await Promise.all(this.#down.values());
  }
}

/** Sends until a gateway accepts the delivery, like a user who requests its redelivery at GitHub. */
async function send({ signal, next }: Trial, one: Sent, gateways: readonly GatewayReplica[]): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    one.attempts++;
    const gateway = anyOf(gateways, next)();
    const { body, headers } = one.hook;
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMillis)]);
      const answer = await fetch(gateway.hookUrl(), { method: "POST", body, headers, signal: limit });
      await answer.text();
      if (answer.status === 202) return;
    } catch {
      // The gateway is down.
    }
    await sleep(50);
  }
}

/** The accepted deliveries that two minutes later are neither reconciled nor dead-lettered. */
async function unreconciled(
  trial: Trial,
  { workers }: Processes,
  sent: readonly Sent[],
  deadLettered: () => Promise<ReadonlySet<string>>,
): Promise<readonly Sent[]> {
  let left: readonly Sent[] = [];
  await comesTrue(trial, async () => {
    const { deliveries } = reconcilesBy(workers);
    const keys = await deadLettered();
    left = sent.filter(({ hook, key }) => !deliveries.has(hook.delivery) && !keys.has(key));
    return left.length === 0;
  });
  return left;
}

/** How often each delivery is on the bus. */
async function storedCounts(bus: Bus): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for await (const { delivery } of storedDeliveries(bus, { since: new Date(0) }))
    counts.set(delivery, (counts.get(delivery) ?? 0) + 1);
  return counts;
}

function checksOf(
  count: number,
  sent: readonly Sent[],
  left: readonly Sent[],
  stored: ReadonlyMap<string, number>,
  reconciles: Reconciles,
): Check[] {
  const missing = sent.filter(({ hook }) => !stored.has(hook.delivery));
  const wrong = unrelated(reconciles, sent);
  return [
    noneOf("accepted deliveries missing on the bus", missing.length, sent.length, { least: count }),
    noneOf("accepted deliveries without a reconcile", left.length, sent.length, {
      least: 0,
      history: left
        .slice(0, 20)
        .map(({ key, hook, attempts }) => JSON.stringify({ key, delivery: hook.delivery, attempts })),
    }),
    {
      what: "reconciles of an unrelated object",
      limit: "0",
      found: figure(wrong.length),
      holds: wrong.length === 0,
      ...(wrong.length > 0 && { history: wrong.slice(0, 20) }),
    },
  ];
}

/** The reconciles in the workers' logs. */
interface Reconciles {
  /** The reconciled objects. */
  readonly keys: readonly string[];
  /** The reconciled objects of each delivery. */
  readonly deliveries: ReadonlyMap<string, readonly string[]>;
}

function reconcilesBy(workers: readonly Replica[]): Reconciles {
  const keys: string[] = [];
  const deliveries = new Map<string, string[]>();
  for (const { log } of workers) {
    for (const line of log.all) {
      if (!line.includes('"looked at the branch"')) continue;
      const { key, deliveries: seen } = JSON.parse(line) as { key: string; deliveries: string[] };
      const name = key.slice("default/".length);
      keys.push(name);
      for (const delivery of seen) deliveries.set(delivery, [...(deliveries.get(delivery) ?? []), name]);
    }
  }
  return { keys, deliveries };
}

/** The reconciles for a delivery about another object, as lines. */
function unrelated({ deliveries }: Reconciles, sent: readonly Sent[]): string[] {
  const keys = new Map(sent.map(({ hook, key }) => [hook.delivery, key]));
  return [...deliveries].flatMap(([delivery, names]) =>
    names
      .filter((name) => name !== keys.get(delivery))
      .map((name) => `${name} was reconciled for ${delivery}, which is about ${keys.get(delivery)}`),
  );
}

/** Polls until the condition holds, for at most two minutes. Returns whether it does. */
async function comesTrue({ signal }: Trial, condition: () => Promise<boolean>): Promise<boolean> {
  for (const end = performance.now() + quietMillis; !(await condition()); ) {
    signal.throwIfAborted();
    if (performance.now() > end) return false;
    await sleep(200);
  }
  return true;
}
