/** Bridge and worker start while neither the bus nor the API server runs. */
import { setTimeout as sleep } from "node:timers/promises";
import type { OwnTestEnvironment } from "../../harness/environment.ts";
import { bounded, type Outcome, type Trial } from "../scenario.ts";
import { errorsOf, mentions, probePath, put, settled, untilReadiness } from "./outage.ts";

/** Longer than the first few retries, so that their backoff shows. Milliseconds. */
const awayMillis = 2500;

/** Starts the processes first, then one server after the other. */
export async function absentAtStart(
  trial: Trial,
  environment: OwnTestEnvironment,
  objects: number,
): Promise<Outcome> {
  const { nats, apiserver } = environment.platform;
  const desired = new Map<string, number>();
  for (let i = 0; i < objects; i++) {
    await put(environment, `absent-${i}`, i);
    desired.set(`absent-${i}`, i);
  }
  await Promise.all([nats.stop(), apiserver.stop()]);
  trial.say("bridge and worker started without servers");
  const replicas = await Promise.all([
    environment.bridge("bridge-1", { args: [probePath], until: "serving" }),
    environment.worker("worker-1", [probePath], { until: "serving" }),
  ]);
  const both = (text: string): boolean =>
    ["the API server is not reachable", "the bus is not reachable"].every((words) => text.includes(words));
  const refused = await Promise.all(
    replicas.map((replica) => untilReadiness(replica, ({ status, text }) => status === 503 && both(text))),
  );
  await sleep(awayMillis);
  const alive = await Promise.all(replicas.map((replica) => replica.probe("/healthz")));
  // Later errors have other causes.
  const errors = replicas.flatMap(errorsOf);
  await nats.start();
  const half = await Promise.all(
    replicas.map((replica) =>
      untilReadiness(replica, ({ text }) => !text.includes("the bus is not reachable")),
    ),
  );
  await apiserver.start();
  trial.say("both servers are up");
  await Promise.all(replicas.map((replica) => untilReadiness(replica, ({ status }) => status === 200)));
  const outcome = await settled(environment, "unreachable at startup", desired);
  const pauses = replicas.flatMap((replica) =>
    errorsOf(replica).flatMap(({ retryInMillis }) =>
      typeof retryInMillis === "number" ? [retryInMillis] : [],
    ),
  );
  await Promise.all(replicas.map((replica) => replica.stop()));
  return {
    injected: ["bus and API server unreachable at startup, then started one by one"],
    checks: [
      mentions(
        "unreachable at startup, both: readiness",
        "the bus is not reachable: expected a NATS server at",
        refused[0]?.text ?? "",
      ),
      mentions(
        "unreachable at startup, API server: readiness",
        "the API server is not reachable: expected",
        half[1]?.text ?? "",
      ),
      bounded(
        "unreachable at startup: processes with /healthz 200",
        alive.filter(({ status }) => status === 200).length,
        "=",
        replicas.length,
        "",
      ),
      bounded(
        `errors (of ${errors.length}) with a stack, or without expectation and retry time`,
        errors.filter(
          ({ err, msg, retryInMillis }) =>
            err !== undefined || !/expected .*, but /.test(String(msg)) || !(Number(retryInMillis) > 0),
        ).length,
        "=",
        0,
        "",
      ),
      bounded("longest retry interval", Math.max(...pauses), "<=", 10_000, "ms"),
      ...outcome,
    ],
  };
}
