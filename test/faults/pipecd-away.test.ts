/** A PipeCD server that is unavailable or has lost its data: objects that change meanwhile are registered once. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Kind } from "../../bus/kube/kind.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import { Application, ControlPlane, Environment, Piped } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, type SampleObject, stackKinds, startPipecd } from "../harness/pipecd.ts";
import {
  corrected,
  emptyStack,
  enabledApplications,
  enabledPipeds,
  keyOf,
  names,
  polling,
  type Stack,
  sideBySide,
  startStack,
  versionsBetween,
} from "../harness/pipecdstack.ts";
import { sized } from "../harness/size.ts";
import { sweep } from "../harness/sweep.ts";
import { conditionOf, has } from "../harness/testobjects.ts";
import { fireTimer } from "../harness/timers.ts";

let pipecd: Pipecd;
beforeAll(async () => {
  pipecd = await startPipecd();
});
afterAll(() => pipecd?.stop());

const any = (kind: unknown) => kind as Kind;
const late = ["Environment", "Piped", "Application"];

/** A ready control plane. `rest` creates the objects that use it. */
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

/** The number of blocked attempts of all workers in a namespace. */
const blocked = ({ namespace }: Stack): number =>
  pipecd.workers
    .flatMap(({ log }) => log.records())
    .filter(({ msg, key }) => msg === "blocked" && String(key).startsWith(`${namespace}/`)).length;

/** Waits for this many more attempts. */
async function tried(stack: Stack, times: number): Promise<void> {
  const before = blocked(stack);
  await vi.waitFor(() => expect(blocked(stack)).toBeGreaterThanOrEqual(before + times), polling);
}
const retries = sized(2, 3);

/** Expects that an Environment which seems stalled for an hour is retried, three times, at the long interval. */
async function expectPatience(stack: Stack): Promise<void> {
  const before = blocked(stack);
  const { conditions = [] } = (await stack.get(Environment, names.environment)).status ?? {};
  const lastTransitionTime = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+Z$/, "Z");
  const status = { conditions: conditions.map((condition) => ({ ...condition, lastTransitionTime })) };
  const how = { fieldManager: "test", subresource: "status" } as const;
  await pipecd.environment.client.mergePatch(Environment, stack.at(names.environment), { status }, how);
  let fired = 0;
  for (let round = 0; round < 3; round++) {
    const delay = await vi.waitFor(async () => {
      const left = await fireTimer(pipecd, "pipecd-environment", stack.at(names.environment));
      fired++;
      // A shorter delay is from before the patch, or from the previous round.
      expect(left).toBeGreaterThan(30_000);
      return left;
    }, polling);
    expect(delay).toBeLessThanOrEqual(60_000);
  }
  // The patch, and two short delays of the first attempts, each cause an attempt.
  expect(blocked(stack) - before).toBeLessThanOrEqual(fired + 3);
}

/** Log lines of all workers about the namespace. They show why a worker repeated a call. */
const history = ({ namespace }: Stack): string =>
  pipecd.workers.flatMap(({ log }) => log.all.filter((line) => line.includes(`"${namespace}/`))).join("\n");

async function expectAllOnce(stack: Stack): Promise<void> {
  const piped = await stack.ready(Piped, names.piped);
  const application = await stack.ready(Application, names.application);
  expect(stack.server().pipeds(), history(stack)).toMatchObject([
    { id: piped.status?.pipedID, disabled: false, keys: 1 },
  ]);
  expect(stack.server().applications()).toMatchObject([
    { id: application.status?.applicationID, pipedId: piped.status?.pipedID, disabled: false },
  ]);
  expect((await keyOf(stack)).id).toBe(piped.status?.pipedID);
}

/** Waits for the first object that calls the server. */
const firstRefused = (stack: Stack, profile: "c" | "l0", reason: string): Promise<string> =>
  profile === "c"
    ? stack.refused(any(Piped), names.piped, reason)
    : stack.refused(any(Environment), names.environment, reason);

describe.concurrent("in separate namespaces", sideBySide, () => {
  test("objects created while the server is unavailable are registered once, when it is back", async ({
    expect,
  }) => {
    const { stack, rest } = await planeOnly("l0", "away-created");
    stack.server().die();
    await rest();
    const message = await firstRefused(stack, "l0", "ServerUnavailable");
    expect(message).toMatch(/^PipeCD: ListEnvironments: /);
    const waiting = await stack.refused(any(Piped), names.piped, "EnvironmentNotReady");
    expect(waiting).toContain("environment-sample");
    await tried(stack, retries);
    await expectPatience(stack);
    expect(stack.server().pipeds()).toEqual([]);
    stack.server().restart();
    await fireTimer(pipecd, "pipecd-environment", stack.at(names.environment));
    await expectAllOnce(stack);
    expect(stack.server().environments()).toHaveLength(1);
  });

  test("edits and deletions made while the server is unavailable reach it later, and deployments continue", async ({
    expect,
  }) => {
    const stack = await startStack(pipecd, "c", "away-edited");
    const before = (await stack.get(Piped, names.piped)).status;
    stack.server().die();
    await stack.edit(any(Piped), names.piped, { description: "edited" });
    await stack.delete(any(Application), names.application);
    await stack.refused(any(Piped), names.piped, "ServerUnavailable");
    await tried(stack, retries);
    const { metadata } = await stack.get(Application, names.application);
    expect(metadata.deletionTimestamp).toBeDefined();
    expect(enabledApplications(stack)).toHaveLength(1);
    stack.server().restart();
    await stack.ready(Piped, names.piped);
    await stack.untilGone(any(Application), names.application);
    expect(enabledApplications(stack)).toEqual([]);
    expect(stack.server().pipeds()).toMatchObject([{ id: before?.pipedID, description: "edited" }]);
  });

  test.for(["c", "l0"] as const)(
    "while the datastore is away everything is retried, and nothing is created twice (%s)",
    async (profile, { expect }) => {
      const { stack, rest } = await planeOnly(profile, `away-datastore-${profile}`);
      stack.server().outage.datastore = true;
      await rest();
      expect(await firstRefused(stack, profile, "ServerError")).toContain("Internal");
      await tried(stack, retries);
      stack.server().outage.datastore = false;
      await expectAllOnce(stack);
    },
  );

  test("a project missing from the datastore is retried like one without permissions", async ({ expect }) => {
    const inStore = "from-the-datastore";
    const { stack, rest } = await planeOnly("c", "away-project", (object) =>
      late.includes(object.kind) ? { ...object, spec: { ...object.spec, projectID: inStore } } : object,
    );
    stack.server().addProject(inStore);
    stack.server().outage.datastore = true;
    await rest();
    expect(await stack.refused(any(Piped), names.piped, "PermissionDenied")).toContain("PermissionDenied");
    await tried(stack, retries);
    stack.server().outage.datastore = false;
    await expectAllOnce(stack);
    expect(enabledPipeds(stack)).toMatchObject([{ project: inStore }]);
  });

  test("a project missing from the configuration is reported, and recovers once it is added", async ({
    expect,
  }) => {
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

  test("a server that repeatedly ends during a call creates nothing twice", async ({
    expect,
    onTestFinished,
  }) => {
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
    // The response to the first registration was lost with its key, so a new key was created for the same piped.
    const piped = await stack.ready(Piped, names.piped);
    await stack.ready(Application, names.application);
    expect(server.pipeds()).toMatchObject([{ id: piped.status?.pipedID, disabled: false }]);
    expect(enabledApplications(stack)).toHaveLength(1);
    expect(stack.calls("RegisterPiped", "AddApplication")).toHaveLength(2);
  });

  test("a server without its datastore or cache refuses valid API keys, and is retried until both are back", async ({
    expect,
  }) => {
    const stack = await startStack(pipecd, "c", "away-keys", (object) => {
      if (object.kind === "ControlPlane") object.spec.bootstrapAPIKeys = true;
      return object;
    });
    await stack.until(ControlPlane, names.plane, has("APIKeysReady", "True"));
    const server = stack.server();
    for (const { store, message, cloudProvider } of [
      { store: "datastore", message: /Internal|Unauthenticated/, cloudProvider: "other" },
      { store: "cache", message: /Unauthenticated/, cloudProvider: "another" },
    ] as const) {
      server.outage[store] = true;
      await stack.edit(any(Application), names.application, { cloudProvider });
      const stalled = await stack.until(Application, names.application, has("Stalled", "True"));
      expect(conditionOf(stalled)?.message).toMatch(message);
      server.outage[store] = false;
      await stack.ready(
        Application,
        names.application,
        (found) =>
          found.status?.registered?.provider === cloudProvider && conditionOf(found, "Stalled") === undefined,
      );
      expect(server.applications().map(({ provider, deleted }) => ({ provider, deleted }))).toEqual([
        { provider: cloudProvider, deleted: false },
      ]);
    }
  });

  test("everything in PipeCD is created once, though each response is lost", async ({ expect }) => {
    const { stack, rest } = await planeOnly("l0", "lost-answers");
    const server = stack.server();
    const methods = ["RegisterPiped", "AddApplication", "AddEnvironment"];
    const lost = methods.map((method) => server.loseAnswer(method));
    await rest();
    const calls = await Promise.all(lost);
    expect(calls.map(({ code }) => code)).toEqual(methods.map(() => 0));
    await stack.ready(Application, names.application);
    await stack.ready(Environment, names.environment);
    const { status } = await stack.ready(Piped, names.piped);
    expect(server.pipeds()).toMatchObject([{ id: status?.pipedID, disabled: false }]);
    expect((await keyOf(stack)).id).toBe(status?.pipedID);
    expect(server.applications()).toHaveLength(1);
    expect(server.environments()).toHaveLength(1);

    // A server that comes back without its data has no environment either, so none is left over.
    const { status: former } = await stack.get(Environment, names.environment);
    await stack.edit(ControlPlane, names.plane, { replicasServer: 0 });
    await stack.refused(ControlPlane, names.plane, "ScaledToZero");
    pipecd.pods.lose(stack.namespace);
    await stack.edit(ControlPlane, names.plane, { replicasServer: null });
    await expect
      .poll(() => stack.notes(Environment, names.environment, "RegistrationLost"), polling)
      .toEqual([expect.stringContaining(`(${former?.environmentID})`)]);
    await expect.poll(() => stack.server().environments().length, polling).toBe(1);
    expect(await stack.notes(Environment, names.environment, "EnvironmentRetained")).toEqual([]);
  });
});

describe("a running stack", () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack(pipecd, "c", "lost");
  }, sideBySide.timeout);

  test("a sweep repeats no call made a moment ago", async () => {
    await stack.ready(Piped, names.piped);
    await pipecd.untilQuiet();
    const look = async () => ({
      calls: pipecd.pods.callsOfWorkers(stack.namespace),
      versions: (await Promise.all([...stackKinds, Deployment as Kind].map((kind) => stack.list(kind))))
        .flat()
        .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`),
    });
    const before = await look();
    for (const fn of ["pipecd-controlplane", "pipecd-environment", "pipecd-piped", "pipecd-application"])
      await sweep(pipecd, fn);
    await pipecd.untilQuiet();
    expect(await look()).toEqual(before);
  });

  test("everything is registered again at a server that has lost its data", async () => {
    const before = await stack.get(Application, names.application);
    const formerPiped = await stack.ready(Piped, names.piped);
    await pipecd.untilQuiet();
    pipecd.pods.lose(stack.namespace);
    await stack.edit(any(Piped), names.piped, { description: "again" });
    const piped = await stack.ready(
      Piped,
      names.piped,
      (found) => found.status?.pipedID !== formerPiped.status?.pipedID,
    );
    const after = await stack.ready(
      Application,
      names.application,
      (found) => found.status?.applicationID !== before.status?.applicationID,
    );
    expect(
      stack
        .server()
        .pipeds()
        .map(({ id }) => id),
    ).toEqual([piped.status?.pipedID]);
    expect(
      stack
        .server()
        .applications()
        .map(({ id }) => id),
    ).toEqual([after.status?.applicationID]);

    const isLost = has("Registered", "False", "RegistrationLost");
    for (const [kind, from, to] of [
      [any(Piped), formerPiped, piped],
      [any(Application), before, after],
    ] as const) {
      const lost = (await versionsBetween(pipecd, kind, from, to)).filter(isLost);
      expect(lost.length).toBeGreaterThan(0);
      expect(lost.filter(has("Ready", "True"))).toEqual([]);
    }
  });
});
