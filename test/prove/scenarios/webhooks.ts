/** Webhooks from GitHub to a reconcile while every process on the way is killed. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { crdOf } from "../../../bus/kube/crd.ts";
import { connectBus } from "../../../bus/nats/connect.ts";
import { deadLetters } from "../../../bus/queue/deadletters.ts";
import { deliveries as storedDeliveries } from "../../../bus/webhooks/history.ts";
import type { Child } from "../../../deploy/local/index.ts";
import { Branch } from "../../fixtures/functions/branches.ts";
import { type GatewayReplica, type Replica, startOwnTestEnvironment } from "../../harness/environment.ts";
import { type Hook, hookOf, push } from "../../harness/webhooks.ts";
import { anyOf, describeFaults, type Fault, startFaults } from "../faults.ts";
import { now } from "../journal.ts";
import { figure, type Scenario, type Trial } from "../scenario.ts";

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
    const { next, say, defer } = trial;
    const count = trial.scaled(10_000, 400);
    const kit = await startOwnTestEnvironment({ crds: [crdOf(Branch)] });
    defer(() => kit.stop());
    const bus = await connectBus({ url: kit.platform.natsUrl, name: "prove" });
    defer(() => bus.nc.close());
    const env = { DENREI_LOG_LEVEL: "info", DENREI_ACK_WAIT_SECONDS: String(trial.scaled(10, 3)) };
    const bridge = await kit.bridge("bridge-1", { args: [functionPath], env });
    const numbers = Array.from({ length: replicas }, (_, at) => at + 1);
    const [workers, gateways] = await Promise.all([
      Promise.all(numbers.map((n) => kit.worker(`worker-${n}`, [functionPath], { env }))),
      Promise.all(numbers.map((n) => kit.gateway(`gateway-${n}`, { env }))),
    ]);
    const looks = () => looksOf(workers);

    const keys = Array.from({ length: count }, (_, at) => `branch-${at}`);
    await each(keys, async (name) => {
      const spec = { repository: "acme/web", branch: name, millis: reconcileMillis };
      const object = {
        apiVersion: "test.denrei.dev/v1",
        kind: "Branch",
        metadata: { namespace: "default", name },
        spec,
      };
      await kit.client.create(Branch, object, { fieldManager: "prove" });
    });
    await until(
      trial,
      "each object was reconciled",
      async () => new Set((await looks()).keys).size === count,
    );
    say(`${figure(count)} objects reconciled`);

    const down = new Map<Child, Promise<void>>();
    const kill = (what: string, ...of: Child[]): Fault => killedAtOnce(`kill -9 of ${what}`, of, down, next);
    const kinds = [
      kill("a gateway", ...gateways),
      kill("a worker", ...workers),
      kill("the bridge", bridge),
      kill("NATS", kit.platform.nats),
    ];
    const faults = startFaults(trial, kinds, everyMillis);
    const sent: Sent[] = [];
    await each(keys, async (key) => {
      const one: Sent = { key, hook: hookOf("push", push("acme/web", key)), attempts: 0 };
      await sleep((faults.isEachInjected() ? fastMillis : slowMillis) * next());
      await send(trial, one, gateways);
      sent.push(one);
      if (sent.length % 1000 === 0) say(`${figure(sent.length)} accepted, ${faults.injected.length} faults`);
    });
    await faults.eachOnce;
    await faults.stop();
    await Promise.all(down.values());

    const byDelivery = new Map(sent.map((one) => [one.hook.delivery, one]));
    const letters = deadLetters(bus, { fn: "branches", cluster: "default" });
    const given = async (): Promise<Set<string>> =>
      new Set((await letters.list()).map(({ key }) => key.name));
    const unseen = async (): Promise<Sent[]> => {
      const [seen, buried] = [await looks(), await given()];
      return sent.filter(({ hook, key }) => !seen.deliveries.has(hook.delivery) && !buried.has(key));
    };
    let left: Sent[] = [];
    await until(trial, undefined, async () => {
      left = await unseen();
      return left.length === 0;
    });
    const onBus = new Map<string, number>();
    for await (const { delivery } of storedDeliveries(bus, { since: new Date(0) }))
      onBus.set(delivery, (onBus.get(delivery) ?? 0) + 1);
    const missing = [...byDelivery.keys()].filter((delivery) => !onBus.has(delivery));
    const wrong = (await looks()).wrong(byDelivery);
    return {
      injected: describeFaults(kinds, faults.injected),
      checks: [
        {
          what: "accepted deliveries missing on the bus",
          limit: "0",
          found: `${missing.length} of ${figure(sent.length)}`,
          holds: missing.length === 0 && sent.length === count,
        },
        {
          what: "accepted deliveries without a reconcile",
          limit: "0",
          found: `${left.length} of ${figure(sent.length)}`,
          holds: left.length === 0,
          ...(left.length > 0 && {
            history: left
              .slice(0, 20)
              .map((one) =>
                JSON.stringify({ key: one.key, delivery: one.hook.delivery, attempts: one.attempts }),
              ),
          }),
        },
        {
          what: "reconciles of an unrelated object",
          limit: "0",
          found: figure(wrong.length),
          holds: wrong.length === 0,
          ...(wrong.length > 0 && { history: wrong.slice(0, 20) }),
        },
      ],
      figures: [
        {
          what: "deliveries resent after an error or no answer",
          found: figure(sent.filter(({ attempts }) => attempts > 1).length),
        },
        {
          what: "duplicate deliveries on the bus",
          found: figure([...onBus.values()].filter((times) => times > 1).length),
        },
        {
          what: "dead letters (three workers killed in a row)",
          found: figure((await given()).size),
        },
      ],
    };
  },
};

/** `kill -9` of a running process; its restart overlaps with the next kills. Waits if none is running. */
const killedAtOnce = (
  name: string,
  of: readonly Child[],
  down: Map<Child, Promise<void>>,
  next: () => number,
): Fault => ({
  name,
  async inject() {
    const up = of.filter((child) => !down.has(child));
    if (up.length === 0) await Promise.race(of.map((child) => down.get(child)));
    const child = anyOf(
      of.filter((one) => !down.has(one)),
      next,
    )();
    const from = now();
    await child.stop("SIGKILL");
    const back = child.start().then(() => void down.delete(child));
    // Reported at the end, when all of them have to be running.
    back.catch(() => undefined);
    down.set(child, back);
    return { victim: child.name, from };
  },
});

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

/** The reconciles in the workers' logs. */
function looksOf(workers: readonly Replica[]) {
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
  return {
    keys,
    deliveries,
    /** Objects reconciled for a delivery about another object. */
    wrong: (sent: ReadonlyMap<string, Sent>): string[] =>
      [...deliveries].flatMap(([delivery, names]) =>
        names
          .filter((name) => name !== sent.get(delivery)?.key)
          .map((name) => `${name} was reconciled for ${delivery}, which is about ${sent.get(delivery)?.key}`),
      ),
  };
}

/** Handles all elements of a list, some at a time. */
async function each<T>(list: readonly T[], handle: (one: T) => Promise<void>): Promise<void> {
  const waiting = [...list].reverse();
  await Promise.all(
    Array.from({ length: senders }, async () => {
      for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) await handle(one);
    }),
  );
}

/** Waits for a condition. After two minutes it throws, or returns if there is no message. */
async function until(
  { signal }: Trial,
  what: string | undefined,
  isSo: () => Promise<boolean>,
): Promise<void> {
  for (const end = performance.now() + quietMillis; !(await isSo()); ) {
    signal.throwIfAborted();
    if (performance.now() > end) {
      if (what === undefined) return;
      throw new Error(`expected within ${quietMillis} ms that ${what}`);
    }
    await sleep(200);
  }
}
