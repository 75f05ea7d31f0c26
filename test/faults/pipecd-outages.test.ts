/** PipeCD away, or without its stores, while things are created, edited and kept. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Kind } from "../../bus/kube/kind.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import { Application, ControlPlane, Environment, Piped } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, stackKinds, startPipecd } from "../harness/pipecd.ts";
import { sweep } from "../harness/sweep.ts";
import { conditionOf, has } from "../harness/world.ts";

let pipecd: Pipecd;
beforeAll(async () => {
  pipecd = await startPipecd();
});
afterAll(() => pipecd?.stop());

const late = ["Environment", "Piped", "Application"];

test("what is created while the server does not answer for a minute is there when it does", async () => {
  const namespace = "away";
  const at = (name: string) => ({ namespace, name });
  await pipecd.namespace(namespace);
  await pipecd.apply("l0", namespace, (object) => (late.includes(object.kind) ? undefined : object));
  await pipecd.kit.until(ControlPlane, at("controlplane-sample"), has("Ready", "True"));
  const server = await pipecd.pods.started(namespace);
  // Its pod runs on, so that nobody but who calls it knows.
  server.die();
  const since = Date.now();
  await pipecd.apply("l0", namespace, (object) => {
    if (!late.includes(object.kind)) return undefined;
    if (object.kind === "Application") object.spec.repository = "examples";
    return object;
  });
  const blocked = await pipecd.kit.until(
    Environment,
    at("environment-sample"),
    has("Stalled", "True", "ServerUnavailable"),
  );
  expect(conditionOf(blocked)?.message).toMatch(/^PipeCD: ListEnvironments: /);
  const waiting = await pipecd.kit.until(
    Piped,
    at("piped-sample"),
    has("Ready", "False", "EnvironmentNotReady"),
  );
  expect(conditionOf(waiting)?.message).toContain("environment-sample");
  // It is asked ever more seldom, but within the minute, and never in a loop.
  const tries = () =>
    pipecd.workers
      .flatMap(({ log }) => log.records())
      .filter(({ msg, key }) => msg === "blocked" && key === `${namespace}/environment-sample`).length;
  await expect.poll(() => Date.now() - since > 60_000, { timeout: 90_000, interval: 1000 }).toBe(true);
  expect(tries()).toBeGreaterThanOrEqual(4);
  expect(tries()).toBeLessThanOrEqual(20);
  expect(server.calls).toEqual([]);
  server.restart();
  await pipecd.kit.until(Application, at("application-sample"), has("Ready", "True"), 120_000);
  expect([server.environments().length, server.pipeds().length, server.applications().length]).toEqual([
    1, 1, 1,
  ]);
}, 360_000);

test.each([
  { store: "datastore", message: /Internal|Unauthenticated/ },
  { store: "cache", message: /Unauthenticated/ },
] as const)(
  "without its $store it refuses API keys that are good, and is asked again until it has it back",
  async ({ store, message }) => {
    const namespace = `without-${store}`;
    const at = (name: string) => ({ namespace, name });
    await pipecd.namespace(namespace);
    await pipecd.apply("c", namespace, (object) => {
      if (object.kind === "ControlPlane") object.spec.bootstrapAPIKeys = true;
      return object;
    });
    await pipecd.kit.until(Application, at("application-sample"), has("Ready", "True"));
    await pipecd.kit.until(ControlPlane, at("controlplane-sample"), has("APIKeysReady", "True"));
    const server = pipecd.pods.plane(namespace);
    server.outage[store] = true;
    await pipecd.patch(Application, at("application-sample"), { spec: { cloudProvider: "other" } });
    const blocked = await pipecd.kit.until(Application, at("application-sample"), has("Stalled", "True"));
    expect(conditionOf(blocked)?.message).toMatch(message);
    server.outage[store] = false;
    await pipecd.kit.until(
      Application,
      at("application-sample"),
      (found) =>
        found.status?.registered?.provider === "other" &&
        has("Ready", "True")(found) &&
        conditionOf(found, "Stalled") === undefined,
    );
    expect(server.applications().map(({ provider, deleted }) => ({ provider, deleted }))).toEqual([
      { provider: "other", deleted: false },
    ]);
  },
);

test("a server that has lost all that it had is told of it again", async () => {
  const namespace = "lost";
  const at = (name: string) => ({ namespace, name });
  await pipecd.namespace(namespace);
  await pipecd.apply("c", namespace);
  const before = await pipecd.kit.until(Application, at("application-sample"), has("Ready", "True"));
  const { status } = await pipecd.kit.until(Piped, at("piped-sample"), has("Ready", "True"));
  await pipecd.untilQuiet();
  pipecd.pods.lose(namespace);
  await pipecd.patch(Piped, at("piped-sample"), { spec: { description: "again" } });
  const piped = await pipecd.kit.until(
    Piped,
    at("piped-sample"),
    (found) => found.status?.pipedID !== status?.pipedID && has("Ready", "True")(found),
  );
  const after = await pipecd.kit.until(
    Application,
    at("application-sample"),
    (found) => found.status?.applicationID !== before.status?.applicationID && has("Ready", "True")(found),
  );
  const server = pipecd.pods.plane(namespace);
  expect(server.pipeds().map(({ id }) => id)).toEqual([piped.status?.pipedID]);
  expect(server.applications().map(({ id }) => id)).toEqual([after.status?.applicationID]);
});

test("a sweep asks for nothing that was asked a moment ago", async () => {
  const namespace = "swept";
  const at = (name: string) => ({ namespace, name });
  await pipecd.namespace(namespace);
  await pipecd.apply("c", namespace);
  await pipecd.kit.until(Application, at("application-sample"), has("Ready", "True"));
  await pipecd.kit.until(Piped, at("piped-sample"), has("Ready", "True"));
  await pipecd.untilQuiet();
  const look = async () => ({
    calls: pipecd.pods.callsOfWorkers(namespace),
    versions: (
      await Promise.all([...stackKinds, Deployment as Kind].map((kind) => pipecd.kit.list(kind, namespace)))
    )
      .flat()
      .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`),
  });
  const before = await look();
  for (const fn of ["pipecd-controlplane", "pipecd-environment", "pipecd-piped", "pipecd-application"])
    await sweep(pipecd, fn);
  await pipecd.untilQuiet();
  expect(await look()).toEqual(before);
});
