import { describe, expect, test } from "vitest";
import type { Condition, Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { Environment, Piped } from "../kinds.ts";
import { referenced } from "./references.ts";

type Status = NonNullable<Environment["status"]>;

const condition = (status: Condition["status"], type = "Ready"): Condition => ({
  type,
  status,
  reason: "R",
  message: "the message of Ready",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
const isReady: Status = { conditions: [condition("True")], environmentID: "e-1" };

const environment = (
  status?: Status,
  { deleted = false, ...spec }: Partial<Environment["spec"]> & { deleted?: boolean } = {},
): Stored<Environment> => ({
  apiVersion: "pipecd.kanatakita.com/v1alpha1",
  kind: "Environment",
  metadata: {
    name: "e",
    uid: "e",
    resourceVersion: "1",
    ...(deleted && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
  },
  spec: { name: "test-environment", description: "", projectID: "quickstart", ...spec },
  ...(status && { status }),
});

const contextWith = (...objects: readonly Stored[]) =>
  ({
    key: { namespace: "ns", name: "a" },
    read: {
      get: async ({ kind }: { kind: string }, name: string) =>
        objects.find((object) => object.kind === kind && object.metadata.name === name),
    },
  }) as unknown as Context;

interface Of {
  readonly isSettled: boolean;
  readonly projectID: string;
}
const reference = { objectName: "e", name: "test-environment" };
const find = (
  object: Stored,
  { isSettled = false, projectID = "quickstart", ...named }: Partial<typeof reference & Of> = {},
) => referenced(Environment, { ...reference, ...named }, { projectID, isSettled }, contextWith(object));

describe("an object that is not registered yet", () => {
  test("resolves a reference to a ready object", async () => {
    const found = environment(isReady);
    expect(await find(found)).toBe(found);
  });

  test.each([
    ["is new", environment(), "it is new"],
    ["is not ready", environment({ ...isReady, conditions: [condition("False")] }), "the message of Ready"],
    [
      "has an unknown state",
      environment({ ...isReady, conditions: [condition("Unknown")] }),
      "the message of Ready",
    ],
    [
      "has another condition only",
      environment({ conditions: [condition("True", "Registered")] }),
      "it is new",
    ],
    ["is being deleted", environment(isReady, { deleted: true }), "it is being deleted"],
  ])("waits for an object that %s", async (_, object, why) => {
    await expect(find(object)).rejects.toMatchObject({
      name: "WaitingError",
      reason: "EnvironmentNotReady",
      message: `the Environment e is not ready: ${why}`,
    });
  });
});

describe("an object that is registered already", () => {
  const isSettled = true;
  test.each([
    ["is no longer ready", environment({ ...isReady, conditions: [condition("False")] })],
    ["is being deleted", environment(isReady, { deleted: true })],
  ])("resolves a reference to a registered object that %s", async (_, object) => {
    expect(await find(object, { isSettled })).toBe(object);
  });

  test("waits for an object that is not registered", async () => {
    await expect(find(environment(), { isSettled })).rejects.toMatchObject({ reason: "EnvironmentNotReady" });
  });
});

test.each([true, false])("waits for a missing object, settled or not: %j", async (isSettled) => {
  await expect(find(environment(isReady), { isSettled, objectName: "other" })).rejects.toMatchObject({
    reason: "EnvironmentNotFound",
    message: "expected the Environment other in ns, found none",
  });
});

test.each([true, false])("rejects a name that is not the object's, settled or not: %j", async (isSettled) => {
  await expect(find(environment(isReady), { isSettled, name: "other" })).rejects.toMatchObject({
    reason: "ReferenceMismatch",
    message: expect.stringMatching(/environmentRef\.name.*test-environment.*other/),
  });
});

test.each([true, false])("rejects an object of another project, settled or not: %j", async (isSettled) => {
  await expect(find(environment(isReady), { isSettled, projectID: "other" })).rejects.toMatchObject({
    reason: "ReferenceMismatch",
    message: expect.stringMatching(/project other.*quickstart/),
  });
});

test.each([
  ["name", { name: "former", projectID: "quickstart" }],
  ["project", { name: "test-environment", projectID: "former" }],
])("waits while PipeCD still has the object's former %s", async (_, registered) => {
  for (const isSettled of [true, false])
    await expect(find(environment({ ...isReady, registered }), { isSettled })).rejects.toMatchObject({
      reason: "EnvironmentNotReady",
      message: expect.stringContaining("former"),
    });
});

test("resolves references to a Piped the same way", async () => {
  const piped = {
    ...environment(),
    kind: "Piped",
    metadata: { name: "p", uid: "p", resourceVersion: "1" },
    status: { pipedID: "p-1", conditions: [condition("False")] },
  };
  const to = (name: string) =>
    referenced(
      Piped,
      { objectName: "p", name },
      { projectID: "quickstart", isSettled: true },
      contextWith(piped),
    );
  expect(await to("test-environment")).toBe(piped);
  await expect(to("other")).rejects.toThrow("spec.pipedRef.name");
});
