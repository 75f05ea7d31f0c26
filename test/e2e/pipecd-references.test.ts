/** References between PipeCD objects: errors are reported and recover once corrected, and no object takes another's place. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Kind } from "../../bus/kube/kind.ts";
import { Application, ControlPlane, Environment, Piped } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, startPipecd } from "../harness/pipecd.ts";
import {
  corrected,
  emptyStack,
  enabledPipeds,
  keyOf,
  names,
  polling,
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
      ...{ kind, what: "a missing Environment", right: { environmentRef } },
      wrong: { environmentRef: { ...environmentRef, objectName: "missing" } },
      ...{ reason: "EnvironmentNotFound", says: "expected the Environment missing" },
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
      ...{ kind, what: "a missing ControlPlane", right: { controlPlaneRef: null } },
      wrong: { controlPlaneRef: { objectName: "missing" } },
      ...{ reason: "ControlPlaneNotFound", says: "expected the ControlPlane missing" },
    },
  ]),
  {
    ...{ kind: any(Application), what: "a missing Piped", right: { pipedRef } },
    wrong: { pipedRef: { ...pipedRef, objectName: "missing" } },
    ...{ reason: "PipedNotFound", says: "expected the Piped missing" },
  },
  {
    ...{ kind: any(Application), what: "a Piped by another name", right: { pipedRef } },
    wrong: { pipedRef: { ...pipedRef, name: "another" } },
    ...{ reason: "ReferenceMismatch", says: "test-piped, found another" },
  },
];

test.each(wrongs)(
  "$kind.kind: reports a reference to $what and recovers, without a call to PipeCD",
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

// With fewer, two may not collide: with three twins, one of two runs without locking passed.
const twins = ["twin-1", "twin-2", "twin-3", "twin-4", "twin-5"];

test("registers two Pipeds of one name with PipeCD separately, whether created one after the other or at once", async () => {
  const { spec, status } = await c.get(Piped, names.piped);
  const key = await keyOf(c);
  await Promise.all(twins.map((name) => c.create(any(Piped), { kind: "Piped", metadata: { name }, spec })));
  for (const name of twins) await c.ready(Piped, name);
  await pipecd.untilQuiet();
  const all = [names.piped, ...twins];
  const ids = await Promise.all(all.map(async (name) => (await c.get(Piped, name)).status?.pipedID));
  expect(ids[0]).toBe(status?.pipedID);
  expect(new Set(ids).size).toBe(all.length);
  expect(new Set(enabledPipeds(c).map(({ id }) => id))).toEqual(new Set(ids));
  expect(await keyOf(c)).toEqual(key);
  const keys = await Promise.all(all.map((name) => keyOf(c, name)));
  expect(keys.map(({ id }) => id)).toEqual(ids);
  expect(new Set(keys.map((one) => one.key)).size).toBe(all.length);
  await c.delete(any(Piped), "twin-1");
  await c.untilGone(any(Piped), "twin-1");
  expect(new Set(enabledPipeds(c).map(({ id }) => id))).toEqual(new Set(ids.toSpliced(1, 1)));
});

describe.concurrent("in namespaces of their own", sideBySide, () => {
  test("objects wait for their references in any order, and a piped for a version that its control plane supports", async ({
    expect,
  }) => {
    const stack = await emptyStack(pipecd, "references-order");
    for (const kind of ["Application", "Piped", "Environment", "ControlPlane", "Mysql", "Minio", "Secret"])
      await pipecd.apply("c", stack.namespace, (object) => {
        if (object.kind !== kind) return undefined;
        if (kind === "Piped") object.spec.version = "v0.9.0";
        return corrected(object);
      });
    await stack.ready(ControlPlane, names.plane);
    const message = await stack.refused(any(Piped), names.piped, "VersionMismatch");
    expect(message).toContain(
      "PipeCD v0.9.0 does not work with v0.57.0 of the ControlPlane controlplane-sample",
    );
    expect(stack.server().pipeds()).toEqual([]);
    await stack.edit(any(Piped), names.piped, { version: "v0.57.0" });
    await stack.ready(Application, names.application);
    await pipecd.untilQuiet();
    expect(stack.calls("RegisterPiped", "AddApplication")).toHaveLength(2);
  });

  test("adopts none of several pipeds of its name in PipeCD, until exactly one is left", async ({
    expect,
  }) => {
    const stack = await emptyStack(pipecd, "references-ambiguous");
    await pipecd.apply("l0", stack.namespace, (object) =>
      ["Piped", "Application"].includes(object.kind) ? undefined : object,
    );
    await stack.ready(ControlPlane, names.plane);
    const { status } = await stack.ready(Environment, names.environment);
    const { pipeds } = await stack.console();
    const environmentIDs = [status?.environmentID ?? ""];
    const piped = { name: "test-piped", description: "by hand", environmentIDs, keyID: "by-hand" };
    const [first, second] = [await pipeds.register(piped), await pipeds.register(piped)];
    await pipecd.apply("l0", stack.namespace, (object) =>
      ["Piped", "Application"].includes(object.kind) ? corrected(object) : undefined,
    );
    const message = await stack.refused(any(Piped), names.piped, "Ambiguous");
    expect(message).toContain(first.id);
    expect(message).toContain(second.id);
    expect(enabledPipeds(stack)).toHaveLength(2);
    await pipeds.disable(second.id);
    // PipeCD sends no events, so the test uses another one.
    await expect
      .poll(
        async () => {
          await pipecd.environment.client.mergePatch(
            Piped,
            stack.at(names.piped),
            { metadata: { annotations: { touched: String(performance.now()) } } },
            { fieldManager: "test" },
          );
          return (await stack.get(Piped, names.piped)).status?.pipedID;
        },
        { ...polling, interval: 250 },
      )
      .toBe(first.id);
    await stack.ready(Application, names.application);
    expect(stack.server().pipeds()).toHaveLength(2);
    expect((await keyOf(stack)).key).not.toBe(first.key);
  });
});
