/** Objects of PipeCD that name each other: what is wrong is said, and heals when it is corrected; no two take each other's place. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Kind } from "../../bus/kube/kind.ts";
import { Application, ControlPlane, Environment, Piped } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, startPipecd } from "../harness/pipecd.ts";
import {
  corrected,
  emptyStack,
  enabledApplications,
  enabledPipeds,
  keyOf,
  names,
  patience,
  type Stack,
  sideBySide,
  startStack,
} from "../harness/pipecdstack.ts";

let pipecd: Pipecd;
let c: Stack;
beforeAll(async () => {
  pipecd = await startPipecd();
  c = await startStack(pipecd, "c", "references-c");
}, sideBySide.timeout);
afterAll(() => pipecd?.stop());

const any = (kind: unknown) => kind as Kind;

interface Wrong {
  readonly kind: Kind;
  readonly what: string;
  readonly wrong: object;
  readonly reason: string;
  readonly says: string;
  readonly right: object;
}

const environmentRef = { objectName: names.environment, name: "test-environment" };
const pipedRef = { objectName: names.piped, name: "test-piped" };
const wrongs: readonly Wrong[] = [
  ...[any(Piped), any(Application)].flatMap((kind) => [
    {
      ...{ kind, what: "an Environment that is not there", right: { environmentRef } },
      wrong: { environmentRef: { ...environmentRef, objectName: "nobody" } },
      ...{ reason: "EnvironmentNotFound", says: "expected the Environment nobody" },
    },
    {
      ...{ kind, what: "an Environment by another name", right: { environmentRef } },
      wrong: { environmentRef: { ...environmentRef, name: "production" } },
      ...{ reason: "ReferenceMismatch", says: "test-environment, found production" },
    },
    {
      ...{ kind, what: "an Environment of another project", right: { projectID: "quickstart" } },
      ...{ wrong: { projectID: "second" }, reason: "ReferenceMismatch", says: "project second" },
    },
    {
      ...{ kind, what: "a ControlPlane that is not there", right: { controlPlaneRef: null } },
      wrong: { controlPlaneRef: { objectName: "nobody" } },
      ...{ reason: "ControlPlaneNotFound", says: "expected the ControlPlane nobody" },
    },
  ]),
  {
    ...{ kind: any(Application), what: "a Piped that is not there", right: { pipedRef } },
    wrong: { pipedRef: { ...pipedRef, objectName: "nobody" } },
    ...{ reason: "PipedNotFound", says: "expected the Piped nobody" },
  },
  {
    ...{ kind: any(Application), what: "a Piped by another name", right: { pipedRef } },
    wrong: { pipedRef: { ...pipedRef, name: "another" } },
    ...{ reason: "ReferenceMismatch", says: "test-piped, found another" },
  },
];

test.each(wrongs)(
  "an object $kind.kind that names $what says so, and heals; PipeCD hears nothing of it",
  async (one) => {
    const { kind, wrong, reason, says, right } = one;
    const name = kind === any(Piped) ? names.piped : names.application;
    const writes = () => c.server().calls.filter(({ method }) => !/^(List|Get|Report)/.test(method)).length;
    const before = writes();
    await c.edit(kind, name, wrong);
    expect(await c.refused(kind, name, reason)).toContain(says);
    await c.edit(kind, name, right);
    await c.ready(kind, name);
    await c.ready(Application, names.application);
    expect(writes()).toBe(before);
  },
);

test("objects that come before what they name wait for it, in any order", async () => {
  const stack = await emptyStack(pipecd, "references-order");
  for (const kind of ["Application", "Piped", "Environment", "ControlPlane", "Mysql", "Minio", "Secret"])
    await pipecd.apply("c", stack.namespace, (object) =>
      object.kind === kind ? corrected(object) : undefined,
    );
  await stack.ready(Application, names.application);
  await pipecd.untilQuiet();
  expect(stack.calls("RegisterPiped", "AddApplication")).toHaveLength(2);
});

test("a repository that the piped does not have is waited for, and found when it gets it: the sample of v0.9.0", async () => {
  const stack = await emptyStack(pipecd, "references-repository");
  await pipecd.apply("l0", stack.namespace);
  const message = await stack.refused(any(Application), names.application, "RepositoryNotFound");
  expect(message).toContain("repoId example, found");
  await pipecd.untilQuiet();
  expect(stack.server().applications()).toEqual([]);
  await stack.edit(any(Piped), names.piped, {
    config: {
      repositories: [{ repoId: "example", remote: "https://example.com/example.git", branch: "main" }],
    },
  });
  await stack.ready(Application, names.application);
  expect(enabledApplications(stack)).toMatchObject([{ repository: "example" }]);
  expect(stack.calls("AddApplication")).toHaveLength(1);
});

test("two Pipeds of one name at PipeCD are two, whether they come after each other or at once", async () => {
  const stack = await startStack(pipecd, "c", "references-twins");
  const { spec, status } = await stack.get(Piped, names.piped);
  const key = await keyOf(stack);
  const more = ["twin-1", "twin-2", "twin-3", "twin-4", "twin-5"];
  await Promise.all(
    more.map((name) => stack.create(any(Piped), { kind: "Piped", metadata: { name }, spec })),
  );
  for (const name of more) await stack.ready(Piped, name);
  await pipecd.untilQuiet();
  const all = [names.piped, ...more];
  const ids = await Promise.all(all.map(async (name) => (await stack.get(Piped, name)).status?.pipedID));
  expect(ids[0]).toBe(status?.pipedID);
  expect(new Set(ids).size).toBe(all.length);
  expect(new Set(enabledPipeds(stack).map(({ id }) => id))).toEqual(new Set(ids));
  expect(await keyOf(stack)).toEqual(key);
  const keys = await Promise.all(all.map((name) => keyOf(stack, name)));
  expect(keys.map(({ id }) => id)).toEqual(ids);
  expect(new Set(keys.map((one) => one.key)).size).toBe(all.length);
  await stack.delete(any(Piped), "twin-1");
  await stack.untilGone(any(Piped), "twin-1");
  expect(new Set(enabledPipeds(stack).map(({ id }) => id))).toEqual(new Set(ids.toSpliced(1, 1)));
});

describe.concurrent("in namespaces of their own", sideBySide, () => {
  test("a piped of another profile is refused, and heals with a version that goes with its control plane", async ({
    expect,
  }) => {
    const stack = await emptyStack(pipecd, "references-version");
    await pipecd.apply("c", stack.namespace, (object) =>
      object.kind === "Piped"
        ? { ...object, spec: { ...object.spec, version: "v0.9.0" } }
        : corrected(object),
    );
    await stack.ready(ControlPlane, names.plane);
    const message = await stack.refused(any(Piped), names.piped, "VersionMismatch");
    expect(message).toContain("v0.57.0 of the ControlPlane controlplane-sample, found v0.9.0");
    expect(stack.server().pipeds()).toEqual([]);
    await stack.edit(any(Piped), names.piped, { version: "v0.57.0" });
    await stack.ready(Application, names.application);
  });

  test.for(["c", "l0"] as const)(
    "of several pipeds of the name at PipeCD none is taken, until there is one: that one is (%s)",
    async (profile, { expect }) => {
      const stack = await emptyStack(pipecd, `references-ambiguous-${profile}`);
      await pipecd.apply(profile, stack.namespace, (object) =>
        ["Piped", "Application"].includes(object.kind) ? undefined : object,
      );
      await stack.ready(ControlPlane, names.plane);
      const { status } = await stack.ready(Environment, names.environment);
      const { pipeds } = await stack.console();
      const environmentIDs = profile === "l0" ? [status?.environmentID ?? ""] : [];
      const piped = { name: "test-piped", description: "by hand", environmentIDs };
      const [first, second] = [await pipeds.register(piped), await pipeds.register(piped)];
      await pipecd.apply(profile, stack.namespace, (object) =>
        ["Piped", "Application"].includes(object.kind) ? corrected(object) : undefined,
      );
      const message = await stack.refused(any(Piped), names.piped, "Ambiguous");
      expect(message).toContain(first.id);
      expect(message).toContain(second.id);
      expect(enabledPipeds(stack)).toHaveLength(2);
      await pipeds.disable(second.id);
      // Any event will do: PipeCD tells nobody.
      await expect
        .poll(
          async () => {
            await pipecd.kit.client.mergePatch(
              Piped,
              stack.at(names.piped),
              { metadata: { annotations: { touched: String(performance.now()) } } },
              { fieldManager: "test" },
            );
            return (await stack.get(Piped, names.piped)).status?.pipedID;
          },
          { ...patience, interval: 250 },
        )
        .toBe(first.id);
      await stack.ready(Application, names.application);
      expect(stack.server().pipeds()).toHaveLength(2);
      expect((await keyOf(stack)).key).not.toBe(first.key);
    },
  );
});
