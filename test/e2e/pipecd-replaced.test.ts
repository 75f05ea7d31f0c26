/** Edits that replace Applications and Pipeds: the live one stays until its replacement is registered. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { type Kind, Secret } from "../../bus/kube/kind.ts";
import { Application, Environment, Piped } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, startPipecd } from "../harness/pipecd.ts";
import {
  DeploymentKind,
  enabledApplications,
  enabledPipeds,
  keyOf,
  names,
  polling,
  type Stack,
  sideBySide,
  startStack,
} from "../harness/pipecdstack.ts";
import { conditionOf } from "../harness/testobjects.ts";

let pipecd: Pipecd;
beforeAll(async () => {
  pipecd = await startPipecd();
});
afterAll(() => pipecd?.stop());

const any = (kind: unknown) => kind as Kind;
const application = (stack: Stack) => stack.get(Application, names.application);
const registered = async (stack: Stack) => conditionOf(await application(stack), "Registered");
/** Calls that end something in PipeCD. */
const ended = (stack: Stack) => stack.calls("DeleteApplication", "DisableApplication", "DisablePiped");

describe.concurrent("in namespaces of their own", sideBySide, () => {
  test.for(["c", "l0"] as const)(
    "keeps the live application when the agent does not have the new repository, and a revert changes nothing (%s)",
    async (profile, { expect }) => {
      const stack = await startStack(pipecd, profile, `replaced-typo-${profile}`);
      const { status } = await application(stack);
      const live = `PipeCD has the application ${status?.applicationID} at examples/kubernetes/canary`;
      await stack.edit(Application, names.application, { repository: "exmaples" });
      await stack.refused(any(Application), names.application, "RepositoryNotFound");
      expect(await registered(stack)).toMatchObject({ status: "False", reason: "FormerRegistered" });
      expect((await registered(stack))?.message).toContain(live);
      expect((await application(stack)).status?.registered).toEqual(status?.registered);
      expect(enabledApplications(stack)).toMatchObject([{ id: status?.applicationID }]);
      await stack.edit(Application, names.application, { repository: "examples" });
      await stack.ready(Application, names.application);
      expect(await registered(stack)).toMatchObject({ status: "True", message: live });
      expect(ended(stack)).toEqual([]);
      expect(stack.calls("AddApplication")).toHaveLength(1);
    },
  );

  test("keeps the live application when PipeCD rejects its replacement, and deletes it with the object", async ({
    expect,
  }) => {
    const stack = await startStack(pipecd, "c", "replaced-refused", (object) => {
      // PipeCD cannot build a URL from it.
      const local = { repoId: "local", remote: "/srv/git/local", branch: "main" };
      if (object.kind === "Piped") object.spec.config.repositories.push(local);
      return object;
    });
    const { status } = await application(stack);
    await stack.edit(Application, names.application, { repository: "local" });
    const message = await stack.refused(any(Application), names.application, "ServerError");
    expect(message).toContain("AddApplication: Internal");
    expect(await registered(stack)).toMatchObject({
      status: "Unknown",
      reason: "Registering",
      message: expect.stringContaining(`until then, PipeCD has the application ${status?.applicationID} at`),
    });
    expect(enabledApplications(stack)).toMatchObject([{ id: status?.applicationID }]);
    // Another path works.
    await stack.edit(Application, names.application, { repository: "examples", path: "kubernetes/simple" });
    const { status: now } = await stack.ready(Application, names.application);
    expect(enabledApplications(stack)).toMatchObject([{ id: now?.applicationID, path: "kubernetes/simple" }]);
    expect(now?.registering).toBeUndefined();

    await stack.edit(Application, names.application, { repository: "local" });
    await stack.refused(any(Application), names.application, "ServerError");
    await stack.delete(any(Application), names.application);
    await stack.untilGone(any(Application), names.application);
    expect(enabledApplications(stack)).toEqual([]);
  });

  test("does not claim a change that PipeCD rejects, whether or not it responds", async ({ expect }) => {
    const stack = await startStack(pipecd, "c", "replaced-update");
    const { status } = await application(stack);
    const { apiKeys } = await stack.console();
    const key = (await apiKeys?.generate("unused")) ?? "";
    await stack.create(any(Secret), {
      ...{ kind: "Secret", metadata: { name: "wrong" } },
      data: { "api-key": btoa(`${key}x`) },
    } as never);
    await stack.edit(Application, names.application, {
      cloudProvider: "other",
      apiKeySecretRef: { name: "wrong" },
    });
    const isRefused = async (reason: string) => {
      await stack.refused(any(Application), names.application, reason);
      expect(await registered(stack)).toMatchObject({ status: "False", reason: "FormerRegistered" });
      expect((await application(stack)).status?.registered).toEqual(status?.registered);
      expect(enabledApplications(stack)).toMatchObject([
        { id: status?.applicationID, provider: "kubernetes-default" },
      ]);
    };
    await isRefused("Unauthenticated");
    stack.server().die();
    await stack.edit(Application, names.application, { apiKeySecretRef: null });
    await isRefused("ServerUnavailable");
    stack.server().restart();
    await stack.ready(Application, names.application);
    expect(await registered(stack)).toMatchObject({ status: "True" });
    expect(enabledApplications(stack)).toMatchObject([{ id: status?.applicationID, provider: "other" }]);
  });

  test("does not move the application to an agent without its repository", async ({ expect }) => {
    const stack = await startStack(pipecd, "c", "replaced-agent");
    const { spec } = await stack.get(Piped, names.piped);
    const repositories = [{ repoId: "others", remote: "https://example.com/others.git", branch: "main" }];
    await stack.create(any(Piped), {
      ...{ kind: "Piped", metadata: { name: "other" } },
      spec: { ...spec, name: "other", config: { ...spec.config, repositories } },
    });
    await stack.ready(Piped, "other");
    const { status } = await application(stack);
    await stack.edit(Application, names.application, { pipedRef: { objectName: "other", name: "other" } });
    await stack.refused(any(Application), names.application, "RepositoryNotFound");
    expect(await registered(stack)).toMatchObject({ status: "False", reason: "FormerRegistered" });
    expect(enabledApplications(stack)).toMatchObject([{ pipedId: status?.pipedID }]);
    expect(stack.calls("UpdateApplication")).toEqual([]);
  });

  test("keeps the live agent when the new project does not exist, and a revert changes nothing", async ({
    expect,
  }) => {
    const stack = await startStack(pipecd, "c", "replaced-project");
    const [before, key] = [await stack.get(Piped, names.piped), await keyOf(stack)];
    const { spec } = await stack.get(DeploymentKind, names.piped);
    const moveTo = async (projectID: string) => {
      await stack.edit(Environment, names.environment, { projectID });
      await stack.edit(Piped, names.piped, { projectID });
    };
    await moveTo("nowhere");
    await stack.refused(any(Piped), names.piped, "PermissionDenied");
    const refused = await stack.get(Piped, names.piped);
    expect(conditionOf(refused, "Registered")).toMatchObject({
      status: "False",
      reason: "FormerRegistered",
      message: expect.stringContaining(
        `${before.status?.pipedID}, named test-piped, in the project quickstart`,
      ),
    });
    expect(enabledPipeds(stack)).toMatchObject([{ id: before.status?.pipedID, project: "quickstart" }]);
    expect(await keyOf(stack)).toEqual(key);
    expect((await stack.get(DeploymentKind, names.piped)).spec).toEqual(spec);
    await moveTo("quickstart");
    const { status } = await stack.ready(Piped, names.piped);
    expect(status?.pipedID).toBe(before.status?.pipedID);
    expect(await keyOf(stack)).toEqual(key);
    expect(ended(stack)).toEqual([]);
  });

  test.for(["c", "l0"] as const)(
    "Applications can swap their paths, and none is registered twice (%s)",
    async (profile, { expect }) => {
      const stack = await startStack(pipecd, profile, `replaced-circle-${profile}`);
      const { spec } = await application(stack);
      const paths = ["kubernetes/a", "kubernetes/b", "kubernetes/c"];
      const objects = ["first", "second", "third"];
      const spread = (turn: number) =>
        objects.map((name, index) => [name, paths[(index + turn) % paths.length] ?? ""] as const);
      for (const [name, path] of spread(0)) {
        await stack.create(any(Application), {
          kind: "Application",
          metadata: { name },
          spec: { ...spec, path },
        });
        await stack.ready(Application, name);
      }
      await Promise.all(spread(1).map(([name, path]) => stack.edit(any(Application), name, { path })));
      const moved = await Promise.all(objects.map((name) => stack.ready(Application, name)));
      expect(moved.map(({ status }) => status?.registered?.path)).toEqual(spread(1).map(([, path]) => path));
      await pipecd.untilQuiet();
      const ofObjects = enabledApplications(stack).filter(({ path }) => paths.includes(path));
      expect(ofObjects.map(({ id }) => id).sort()).toEqual(
        moved.map(({ status }) => status?.applicationID).sort(),
      );
      const notes = async () =>
        (
          await Promise.all(objects.map((name) => stack.notes(any(Application), name, "PlaceReleased")))
        ).flat();
      await expect.poll(notes, polling).toHaveLength(1);
    },
  );

  test("registers the oldest of several Applications with one path, and the next one when that is deleted", async ({
    expect,
  }) => {
    const stack = await startStack(pipecd, "c", "replaced-place");
    const { spec, status } = await application(stack);
    await stack.delete(any(Application), names.application);
    await stack.untilGone(any(Application), names.application);
    const three = ["a", "b", "c"];
    await Promise.all(
      three.map((name) => stack.create(any(Application), { kind: "Application", metadata: { name }, spec })),
    );
    const standing = async () => {
      const all = (await stack.list(Application)).filter(({ metadata }) => !metadata.deletionTimestamp);
      const first = all.filter(({ status: one }) => one?.applicationID !== undefined);
      const waiting = all.filter((one) => conditionOf(one)?.reason === "PlaceTaken");
      return { first, waiting };
    };
    for (const left of [2, 1, 0]) {
      await expect.poll(async () => (await standing()).waiting.length, polling).toBe(left);
      await expect.poll(async () => (await standing()).first.length, polling).toBe(1);
      await pipecd.untilQuiet();
      const { first, waiting } = await standing();
      const [{ metadata: { name = "" } = {}, status: one } = {}] = first;
      for (const other of waiting) expect(conditionOf(other)?.message).toContain(`the Application ${name} `);
      expect(enabledApplications(stack).map(({ id }) => id)).toEqual([one?.applicationID]);
      await stack.delete(any(Application), name);
      await stack.untilGone(any(Application), name);
    }
    expect(enabledApplications(stack)).toEqual([]);
    expect(stack.calls("AddApplication")).toHaveLength(4);
    expect(status?.applicationID).toBeDefined();
  });
});
