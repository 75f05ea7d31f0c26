/** A server of PipeCD, or its datastore, that is away while objects are created, edited and deleted: all is told of once. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Kind } from "../../bus/kube/kind.ts";
import { Application, ControlPlane, Environment, Piped } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, type SampleObject, startPipecd } from "../harness/pipecd.ts";
import {
  corrected,
  emptyStack,
  enabledApplications,
  enabledPipeds,
  keyOf,
  names,
  patience,
  type Stack,
  startStack,
} from "../harness/pipecdstack.ts";

let pipecd: Pipecd;
beforeAll(async () => {
  pipecd = await startPipecd();
});
afterAll(() => pipecd?.stop());

const any = (kind: unknown) => kind as Kind;
const late = ["Environment", "Piped", "Application"];

/** A control plane that is ready. `rest` creates what needs it. */
async function planeOnly(
  profile: "c" | "l0",
  namespace: string,
  change: (object: SampleObject) => SampleObject = (object) => object,
) {
  const stack = await emptyStack(pipecd, namespace);
  await pipecd.apply(profile, namespace, (object) =>
    late.includes(object.kind) ? undefined : change(object),
  );
  await stack.ready(ControlPlane, names.plane);
  return {
    stack,
    rest: () =>
      pipecd.apply(profile, namespace, (object) =>
        late.includes(object.kind) ? change(corrected(object)) : undefined,
      ),
  };
}

/** Tries in a namespace that were blocked, by all workers. */
const blocked = ({ namespace }: Stack): number =>
  pipecd.workers
    .flatMap(({ log }) => log.records())
    .filter(({ msg, key }) => msg === "blocked" && String(key).startsWith(`${namespace}/`)).length;

/** So many tries later. */
async function tried(stack: Stack, times: number): Promise<void> {
  const before = blocked(stack);
  await expect.poll(() => blocked(stack), patience).toBeGreaterThanOrEqual(before + times);
}

async function expectAllOnce(stack: Stack): Promise<void> {
  const piped = await stack.ready(Piped, names.piped);
  const application = await stack.ready(Application, names.application);
  expect(stack.server().pipeds()).toMatchObject([{ id: piped.status?.pipedID, disabled: false, keys: 1 }]);
  expect(stack.server().applications()).toMatchObject([
    { id: application.status?.applicationID, pipedId: piped.status?.pipedID, disabled: false },
  ]);
  expect((await keyOf(stack)).id).toBe(piped.status?.pipedID);
}

/** Waits for who is the first to talk to the server. */
const firstRefused = (stack: Stack, profile: "c" | "l0", reason: string): Promise<string> =>
  profile === "c"
    ? stack.refused(any(Piped), names.piped, reason)
    : stack.refused(any(Environment), names.environment, reason);

test.each(["c", "l0"] as const)(
  "what is created while the server is away is told of when it is back, once (%s)",
  async (profile) => {
    const { stack, rest } = await planeOnly(profile, `away-created-${profile}`);
    stack.server().die();
    await rest();
    await firstRefused(stack, profile, "ServerUnavailable");
    await tried(stack, 3);
    expect(stack.server().pipeds()).toEqual([]);
    stack.server().restart();
    await expectAllOnce(stack);
    if (profile === "l0") expect(stack.server().environments()).toHaveLength(1);
  },
);

test("what is edited and deleted while the server is away is told of when it is back, and what runs goes on", async () => {
  const stack = await startStack(pipecd, "c", "away-edited");
  const before = (await stack.get(Piped, names.piped)).status;
  stack.server().die();
  await stack.edit(any(Piped), names.piped, { description: "edited" });
  await stack.delete(any(Application), names.application);
  await stack.refused(any(Piped), names.piped, "ServerUnavailable");
  await tried(stack, 3);
  const { metadata } = await stack.get(Application, names.application);
  expect(metadata.deletionTimestamp).toBeDefined();
  expect(enabledApplications(stack)).toHaveLength(1);
  stack.server().restart();
  await stack.ready(Piped, names.piped);
  await stack.untilGone(any(Application), names.application);
  expect(enabledApplications(stack)).toEqual([]);
  expect(stack.server().pipeds()).toMatchObject([{ id: before?.pipedID, description: "edited" }]);
});

test.each(["c", "l0"] as const)(
  "while the datastore is away all is tried again, and nothing is made twice (%s)",
  async (profile) => {
    const { stack, rest } = await planeOnly(profile, `away-datastore-${profile}`);
    stack.server().outage.datastore = true;
    await rest();
    expect(await firstRefused(stack, profile, "ServerError")).toContain("Internal");
    await tried(stack, 3);
    stack.server().outage.datastore = false;
    await expectAllOnce(stack);
  },
);

test("a project of the datastore that the server can not look up looks like one without rights, and is tried again", async () => {
  const inStore = "from-the-datastore";
  const { stack, rest } = await planeOnly("c", "away-project", (object) =>
    late.includes(object.kind) ? { ...object, spec: { ...object.spec, projectID: inStore } } : object,
  );
  stack.server().addProject(inStore);
  stack.server().outage.datastore = true;
  await rest();
  expect(await stack.refused(any(Piped), names.piped, "PermissionDenied")).toContain("PermissionDenied");
  await tried(stack, 3);
  stack.server().outage.datastore = false;
  await expectAllOnce(stack);
  expect(enabledPipeds(stack)).toMatchObject([{ project: inStore }]);
});

test("a project that is not there is told of, and heals when it comes to the configuration", async () => {
  const { stack, rest } = await planeOnly("c", "away-unknown", (object) =>
    late.includes(object.kind) ? { ...object, spec: { ...object.spec, projectID: "later" } } : object,
  );
  await rest();
  expect(await stack.refused(any(Piped), names.piped, "PermissionDenied")).toContain("PermissionDenied");
  const { config } = (await stack.get(ControlPlane, names.plane)).spec;
  await stack.edit(any(ControlPlane), names.plane, {
    config: { projects: [...(config.projects ?? []), { id: "later" }] },
  });
  await expectAllOnce(stack);
});

test("a server that ends in the middle of a call, again and again, makes nothing twice", async () => {
  const { stack, rest } = await planeOnly("c", "away-torn");
  const server = stack.server();
  for (const method of ["RegisterPiped", "AddApplication"]) {
    const held = server.hold(method);
    onTestFinished(() => held.release());
    if (method === "RegisterPiped") await rest();
    await held.arrived;
    server.die();
    held.drop();
    await tried(stack, 1);
    server.restart();
  }
  // The key of the first registration went with its answer: it was made anew, for the same piped.
  const piped = await stack.ready(Piped, names.piped);
  await stack.ready(Application, names.application);
  expect(server.pipeds()).toMatchObject([{ id: piped.status?.pipedID, disabled: false }]);
  expect(enabledApplications(stack)).toHaveLength(1);
  expect(stack.calls("RegisterPiped", "AddApplication")).toHaveLength(2);
});

test("v0.9.0: workers that die while a renamed piped makes way leave one that is enabled, and its key is good", async () => {
  const stack = await startStack(pipecd, "l0", "away-renamed");
  const since = stack.server().calls.length;
  for (const method of ["DisablePiped", "RegisterPiped"]) {
    const held = stack.server().hold(method);
    onTestFinished(() => held.drop());
    if (method === "DisablePiped") await stack.edit(any(Piped), names.piped, { name: "renamed" });
    await held.arrived;
    for (const worker of pipecd.workers) await worker.kill();
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
  await expect
    .poll(
      () =>
        stack
          .server()
          .calls.slice(since)
          .filter(({ method, code }) => method === "ReportPipedMeta" && code === 0).length,
      patience,
    )
    .toBeGreaterThan(0);
});
