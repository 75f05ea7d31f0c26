/** Workers that die between a call of PipeCD and recording its result. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Kind, Secret } from "../../bus/kube/kind.ts";
import { Application, ControlPlane, Piped } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, startPipecd } from "../harness/pipecd.ts";
import {
  codeFor,
  enabledApplications,
  enabledPipeds,
  keyOf,
  names,
  polling,
  startStack,
  untilLetIn,
} from "../harness/pipecdstack.ts";
import { has } from "../harness/testobjects.ts";

let pipecd: Pipecd;
beforeAll(async () => {
  pipecd = await startPipecd({ env: { DENREI_ACK_WAIT_SECONDS: "4" } });
});
afterAll(() => pipecd?.stop());

/** A sample's control plane without its other objects; `rest` applies those. */
async function planeOnly(namespace: string) {
  await pipecd.namespace(namespace);
  const isLate = (kind: string) => ["Environment", "Piped", "Application"].includes(kind);
  await pipecd.apply("c", namespace, (object) => (isLate(object.kind) ? undefined : object));
  await pipecd.environment.until(
    ControlPlane,
    { namespace, name: "controlplane-sample" },
    has("Ready", "True"),
  );
  return {
    server: await pipecd.pods.started(namespace),
    at: (name: string) => ({ namespace, name }),
    rest: () =>
      pipecd.apply("c", namespace, (object) => {
        if (!isLate(object.kind)) return undefined;
        if (object.kind === "Application") object.spec.repository = "examples";
        return object;
      }),
  };
}

/** Kills every worker that has reconciled the object. */
async function killWhoHas(namespace: string, fn: string, name: string): Promise<void> {
  const key = `${namespace}/${name}`;
  const owners = pipecd.workers.filter(({ log }) =>
    log.records().some((line) => line.key === key && String(line.function ?? line.controller ?? "") === fn),
  );
  expect(owners.length).toBeGreaterThan(0);
  // Several may have had it in flight: kill all of them, and another one takes over.
  await Promise.all(owners.map((worker) => worker.kill()));
  await Promise.all(owners.map((worker) => worker.start()));
}

/** Kills all workers at once: a survivor would take over what another one had in flight. */
const killAll = () => Promise.all(pipecd.workers.map((worker) => worker.kill()));

test("a worker that dies after RegisterPiped or AddApplication, before it stores the key or ID, leaves one of each", async () => {
  const { server, at, rest } = await planeOnly("registered");
  // Hold both before any worker restarts: the second call may come before the last worker is ready.
  const [registered, added] = [server.hold("RegisterPiped"), server.hold("AddApplication")];
  onTestFinished(() => {
    for (const held of [registered, added]) held.drop();
  });
  await rest();
  await registered.arrived;
  await killWhoHas("registered", "pipecd-piped", "piped-sample");
  registered.drop();
  await added.arrived;
  await killWhoHas("registered", "pipecd-application", "application-sample");
  added.drop();
  // With the key PipeCD accepts its agent, which has reported its repositories, so the application can be registered.
  const application = await pipecd.environment.until(
    Application,
    at("application-sample"),
    has("Ready", "True"),
  );
  const { status } = await pipecd.environment.until(Piped, at("piped-sample"), has("Ready", "True"));
  expect(server.pipeds()).toMatchObject([{ id: status?.pipedID, name: "test-piped", disabled: false }]);
  expect(server.applications().map(({ id }) => id)).toEqual([application.status?.applicationID]);
  const { metadata } = await pipecd.environment.client.get(Secret, at("piped-sample"));
  expect(metadata.annotations?.["pipecd.kanatakita.com/piped-id"]).toBe(status?.pipedID);
});

test("a worker that dies after storing a new key revokes the older ones when it is back", async () => {
  const stack = await startStack(pipecd, "c", "unrevoked");
  const server = stack.server();
  const before = await keyOf(stack);
  let isMade = false;
  const held = server.hold(({ method }) => {
    isMade ||= method === "RecreatePipedKey";
    return isMade && method === "ListPipeds";
  });
  onTestFinished(() => held.drop());
  const since = server.calls.length;
  await stack.delete(Secret, names.piped);
  await held.arrived;
  const stored = await keyOf(stack);
  expect(server.pipeds()).toMatchObject([{ keys: 2 }]);
  await killAll();
  held.drop();
  for (const worker of pipecd.workers) await worker.start();
  await untilLetIn(stack, since);
  await expect.poll(() => server.pipeds(), polling).toMatchObject([{ id: before.id, keys: 1 }]);
  expect(await keyOf(stack)).toEqual(stored);
  expect(await codeFor(pipecd, stack, before)).toBe(16);
  expect(await codeFor(pipecd, stack, stored)).toBe(0);
});

test("an application registered by a worker that died is deleted when its object has moved meanwhile", async () => {
  const stack = await startStack(pipecd, "c", "moved-on");
  const before = (await stack.get(Application, names.application)).status?.applicationID;
  const held = stack.server().hold("AddApplication");
  onTestFinished(() => held.drop());
  await stack.edit(Application, names.application, { path: "kubernetes/second" });
  await held.arrived;
  await killAll();
  held.drop();
  expect(enabledApplications(stack)).toHaveLength(2);
  await stack.edit(Application, names.application, { path: "kubernetes/third" });
  for (const worker of pipecd.workers) await worker.start();
  const { status } = await stack.ready(Application, names.application);
  expect(status?.applicationID).not.toBe(before);
  expect(enabledApplications(stack)).toMatchObject([{ id: status?.applicationID, path: "kubernetes/third" }]);
  expect([status?.registering, status?.former]).toEqual([undefined, undefined]);
});

test("a former application left by a dead worker is deleted with the object", async () => {
  const stack = await startStack(pipecd, "c", "left-former");
  const { applicationID: former } = (await stack.get(Application, names.application)).status ?? {};
  let isAdded = false;
  const held = stack.server().hold(({ method }) => {
    isAdded ||= method === "AddApplication";
    return isAdded && method === "GetApplication";
  });
  onTestFinished(() => held.drop());
  await stack.edit(Application, names.application, { path: "kubernetes/second" });
  await held.arrived;
  await killAll();
  held.drop();
  const { status } = await stack.get(Application, names.application);
  expect(status?.former).toMatchObject([
    { applicationID: former, registered: { path: "kubernetes/canary" } },
  ]);
  expect(enabledApplications(stack)).toHaveLength(2);
  await stack.delete(Application as unknown as Kind, names.application);
  for (const worker of pipecd.workers) await worker.start();
  await stack.untilGone(Application as unknown as Kind, names.application);
  expect(enabledApplications(stack)).toEqual([]);
});

test("unrecorded registrations are undone when the object is deleted", async () => {
  const { server, at, rest } = await planeOnly("begun");
  const piped = server.hold("RegisterPiped");
  await rest();
  await piped.arrived;
  await pipecd.environment.client.delete(Application, at("application-sample"), {});
  await pipecd.environment.client.delete(Piped, at("piped-sample"), {});
  await killWhoHas("begun", "pipecd-piped", "piped-sample");
  piped.drop();
  await pipecd.environment.untilGone(Piped, at("piped-sample"));
  expect(server.pipeds().map(({ disabled }) => disabled)).toEqual([true]);
});

test("v0.9.0: workers that die while replacing a renamed piped leave one enabled piped with a valid key", async () => {
  const stack = await startStack(pipecd, "l0", "away-renamed");
  const since = stack.server().calls.length;
  // Hold both before any worker restarts: the second call may come before the last worker is ready.
  const calls = ["RegisterPiped", "DisablePiped"].map((method) => stack.server().hold(method));
  onTestFinished(() => {
    for (const held of calls) held.drop();
  });
  await stack.edit(Piped as unknown as Kind, names.piped, { name: "renamed" });
  for (const held of calls) {
    await held.arrived;
    await killAll();
    held.drop();
    for (const worker of pipecd.workers) await worker.start();
  }
  const { status } = await stack.ready(
    Piped,
    names.piped,
    (piped) => piped.status?.registered?.name === "renamed",
  );
  expect(enabledPipeds(stack)).toMatchObject([{ id: status?.pipedID, name: "renamed" }]);
  expect(stack.server().pipeds()).toHaveLength(2);
  expect((await keyOf(stack)).id).toBe(status?.pipedID);
  await untilLetIn(stack, since);
});
