/** Edits of Pipeds and Environments. PipeCD is updated once, and what it cannot change is replaced. */
import { beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { ConfigMap } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { Application, ControlPlane, Environment, Piped } from "../../functions/pipecd/kinds.ts";
import { configKeys } from "../../functions/pipecd/names.ts";
import type { Pipecd } from "./pipecd.ts";
import {
  DeploymentKind,
  digestOf,
  type EditedStacks,
  enabledApplications,
  enabledPipeds,
  keyOf,
  names,
  polling,
  type Stack,
  untilLetIn,
} from "./pipecdstack.ts";
import { conditionOf } from "./testobjects.ts";

let pipecd: Pipecd;
let c: Stack;
let l0: Stack;

const byProject = (a: { readonly project: string }, b: { readonly project: string }): number =>
  a.project < b.project ? -1 : 1;

const configOf = async (stack: Stack) => {
  const { data } = (await stack.get(ConfigMap, names.piped)) as KubeObject & { data: Record<string, string> };
  return parse(data[configKeys.piped] ?? "").spec;
};

/** Declares the tests of Pipeds and Environments. */
export function agentTests(stacks: () => EditedStacks): void {
  beforeAll(() => {
    ({ pipecd, c, l0 } = stacks());
  });
  updateTests();
  repositoryTests();
  renameTests();
  moveTests();
}

function updateTests(): void {
  test("v0.57: sends another name and description of a piped to PipeCD once, and keeps its pod", async () => {
    const { status } = await c.get(Piped, names.piped);
    const before = digestOf(await c.get(DeploymentKind, names.piped));
    const updated = c.calls("UpdatePiped").length;
    await c.edit(Piped, names.piped, { name: "renamed" });
    await c.ready(Piped, names.piped, (piped) => piped.status?.registered?.name === "renamed");
    await c.edit(Application, names.application, { pipedRef: { name: "renamed" } });
    await c.edit(Piped, names.piped, { description: "another one" });
    await c.ready(Piped, names.piped, (piped) => piped.status?.registered?.description === "another one");
    await c.ready(Application, names.application);
    await pipecd.untilQuiet();
    expect(
      c
        .calls("UpdatePiped")
        .slice(updated)
        .map(({ request }) => request),
    ).toEqual([
      { pipedId: status?.pipedID, name: "renamed", desc: "test" },
      { pipedId: status?.pipedID, name: "renamed", desc: "another one" },
    ]);
    expect(c.server().pipeds()).toMatchObject([
      { id: status?.pipedID, name: "renamed", description: "another one", disabled: false, keys: 1 },
    ]);
    expect(digestOf(await c.get(DeploymentKind, names.piped))).toBe(before);
    expect(c.calls("RegisterPiped", "AddApplication").length).toBe(2);
  });

  test("v0.57: reverts a change made in PipeCD's console at the next poll of PipeCD", async () => {
    const { status } = await c.get(Piped, names.piped);
    const id = status?.pipedID ?? "";
    const console = await c.console();
    await console.pipeds.update?.(id, { name: "by hand", description: "" });
    await console.pipeds.disable(id);
    const [application] = enabledApplications(c);
    await console.applications.delete(application?.id ?? "");
    // The server may come back without its data, so the worker reads it at once.
    await c.edit(ControlPlane, names.plane, { replicasServer: 0 });
    await c.refused(ControlPlane, names.plane, "ScaledToZero");
    await c.edit(ControlPlane, names.plane, { replicasServer: null });
    await c.ready(ControlPlane, names.plane);
    await expect
      .poll(() => c.server().pipeds(), polling)
      .toMatchObject([{ id, name: "renamed", description: "another one", disabled: false }]);
    await expect.poll(() => enabledApplications(c).length, polling).toBe(1);
    const { status: now } = await c.ready(
      Application,
      names.application,
      ({ status }) => status?.applicationID !== application?.id,
    );
    expect(enabledApplications(c)).toMatchObject([{ id: now?.applicationID, pipedId: id }]);
    await expect
      .poll(() => c.notes(Application, names.application, "RegistrationLost"), polling)
      .toHaveLength(1);
    await expect.poll(() => c.notes(Piped, names.piped, "Enabled"), polling).toHaveLength(1);
  });
}

function repositoryTests(): void {
  test.each([
    ["c", () => c],
    ["l0", () => l0],
  ] as const)(
    "rolls the piped's pod for an added repository, which an Application can then use (%s)",
    async (_, of) => {
      const stack = of();
      const before = digestOf(await stack.get(DeploymentKind, names.piped));
      const added = stack.calls("AddApplication").length;
      await stack.edit(Application, names.application, { repository: "more" });
      expect(await stack.refused(Application, names.application, "RepositoryNotFound")).toContain(
        "repoId more, found examples, other",
      );
      await pipecd.untilQuiet();
      // The former one continues.
      const { status } = await stack.get(Application, names.application);
      expect(enabledApplications(stack)).toMatchObject([
        { id: status?.applicationID, path: status?.registered?.path },
      ]);
      expect(conditionOf(await stack.get(Application, names.application), "Registered")).toMatchObject({
        status: "False",
        reason: "FormerRegistered",
        message: expect.stringContaining(`PipeCD has the application ${status?.applicationID} at examples/`),
      });
      const { repositories = [] } = (await stack.get(Piped, names.piped)).spec.config;
      const more = { repoId: "more", remote: "https://example.com/more.git", branch: "main" };
      await stack.edit(Piped, names.piped, { config: { repositories: [...repositories, more] } });
      await stack.ready(Application, names.application);
      expect((await configOf(stack)).repositories).toMatchObject([
        { repoId: "examples" },
        { repoId: "other" },
        more,
      ]);
      expect(digestOf(await stack.get(DeploymentKind, names.piped))).not.toBe(before);
      expect(enabledApplications(stack)).toMatchObject([{ repository: "more" }]);
      expect(stack.calls("AddApplication")).toHaveLength(added + 1);
      expect(enabledPipeds(stack)).toMatchObject([{ repositories: ["examples", "other", "more"] }]);
    },
  );
}

function renameTests(): void {
  test("v0.9.0: replaces a renamed piped, and its Application follows", async () => {
    const { status } = await l0.get(Piped, names.piped);
    const since = l0.server().calls.length;
    await l0.edit(Piped, names.piped, { name: "renamed" });
    const renamed = await l0.ready(
      Piped,
      names.piped,
      (piped) => piped.status?.registered?.name === "renamed",
    );
    await l0.edit(Application, names.application, { pipedRef: { name: "renamed" } });
    await l0.ready(Application, names.application);
    await untilLetIn(l0, since);
    expect(renamed.status?.pipedID).not.toBe(status?.pipedID);
    expect(l0.server().pipeds()).toHaveLength(2);
    expect(enabledPipeds(l0)).toMatchObject([{ id: renamed.status?.pipedID, name: "renamed" }]);
    expect((await keyOf(l0)).id).toBe(renamed.status?.pipedID);
    expect(enabledApplications(l0)).toMatchObject([{ pipedId: renamed.status?.pipedID }]);
    await expect.poll(() => l0.notes(Piped, names.piped, "Retired"), polling).toHaveLength(1);
  });

  test("v0.57: labels later Applications with an Environment's new name", async () => {
    await c.edit(Environment, names.environment, { name: "production" });
    const { status } = await c.ready(Environment, names.environment);
    expect(status?.environmentID).toBe("production");
    const ref = { environmentRef: { name: "production" } };
    await c.refused(Application, names.application, "ReferenceMismatch");
    await c.edit(Piped, names.piped, ref);
    await c.edit(Application, names.application, ref);
    await c.ready(Application, names.application);
    const labels = () => enabledApplications(c).map((one) => one.labels);
    expect(labels()).toEqual([{ env: "test-environment" }]);
    await c.edit(Application, names.application, { path: "kubernetes/simple" });
    await c.ready(Application, names.application);
    expect(labels()).toEqual([{ env: "production" }]);
    expect(c.server().environments()).toEqual([]);
  });

  test("v0.9.0: replaces a renamed Environment, reports it in an Event, and everything follows it", async () => {
    const before = (await l0.get(Environment, names.environment)).status?.environmentID;
    await l0.edit(Environment, names.environment, { name: "production" });
    const { status } = await l0.ready(
      Environment,
      names.environment,
      (environment) => environment.status?.registered?.name === "production",
    );
    expect(status?.environmentID).not.toBe(before);
    await expect
      .poll(() => l0.notes(Environment, names.environment, "EnvironmentRetained"), polling)
      .toEqual([expect.stringContaining(`test-environment (${before})`)]);
    const ref = { environmentRef: { name: "production" } };
    await l0.edit(Piped, names.piped, ref);
    await l0.edit(Application, names.application, ref);
    await l0.ready(Piped, names.piped, (piped) => piped.status?.environmentID === status?.environmentID);
    await l0.ready(Application, names.application);
    expect(enabledPipeds(l0)).toMatchObject([{ environments: [status?.environmentID] }]);
    expect(enabledApplications(l0)).toMatchObject([{ environment: status?.environmentID }]);
    expect(
      l0
        .server()
        .environments()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["production", "test-environment"]);
  });
}

function moveTests(): void {
  test.each([
    ["c", () => c],
    ["l0", () => l0],
  ] as const)(
    "disables a piped in its former project when it moves, and everything follows it (%s)",
    async (_, of) => {
      const stack = of();
      const { status } = await stack.get(Piped, names.piped);
      const former = await keyOf(stack);
      const since = stack.server().calls.length;
      for (const [kind, name] of [
        [Environment, names.environment],
        [Piped, names.piped],
        [Application, names.application],
      ] as const)
        await stack.edit(kind as typeof Piped, name, { projectID: "second" });
      const moved = await stack.ready(
        Piped,
        names.piped,
        (piped) => piped.status?.registered?.projectID === "second",
      );
      expect(moved.status?.pipedID).not.toBe(status?.pipedID);
      await untilLetIn(stack, since);
      await stack.ready(Application, names.application);
      const both = [status?.pipedID, moved.status?.pipedID];
      const pipeds = stack.server().pipeds();
      expect(pipeds.filter(({ id }) => both.includes(id)).toSorted(byProject)).toMatchObject([
        { id: status?.pipedID, project: "quickstart", disabled: true },
        { id: moved.status?.pipedID, project: "second", disabled: false },
      ]);
      expect(enabledPipeds(stack)).toHaveLength(1);
      const now = await keyOf(stack);
      expect(now.id).toBe(moved.status?.pipedID);
      expect(now.key).not.toBe(former.key);
      expect(await configOf(stack)).toMatchObject({ projectID: "second", pipedID: now.id });
      expect(enabledApplications(stack)).toMatchObject([{ project: "second", pipedId: now.id }]);
    },
  );
}
