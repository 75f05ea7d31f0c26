import fc from "fast-check";
import { expect, test } from "vitest";
import { type DeploymentObject, hasImage, rolloutOf, rolloutOfAll, selectorText } from "./rollout.ts";

const deployment = (
  replicas: number | undefined,
  status: DeploymentObject["status"],
  { name = "web", generation = 2 } = {},
): DeploymentObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, generation },
  spec: { ...(replicas !== undefined && { replicas }) },
  ...(status && { status }),
});
const all = (count: number) => ({
  observedGeneration: 2,
  replicas: count,
  updatedReplicas: count,
  readyReplicas: count,
  availableReplicas: count,
});

test.each([
  ["its controller has not observed it", undefined, "waiting for the Deployment controller to observe web"],
  [
    "its controller has not observed its latest change",
    { ...all(2), observedGeneration: 1 },
    "waiting for the Deployment controller to observe web",
  ],
  ["new pods are missing", { ...all(2), updatedReplicas: 1 }, "1 of 2 pods are up to date"],
  ["old pods remain", { ...all(2), replicas: 3 }, "old pods yet to terminate: 1"],
  ["it has surplus pods", all(3), "surplus pods yet to terminate: 1"],
  ["new pods are not available", { ...all(2), availableReplicas: 1 }, "1 of 2 pods are available"],
  [
    "its pods cannot be created",
    {
      ...all(2),
      conditions: [{ type: "ReplicaFailure", status: "True", message: "exceeded quota" }],
    },
    "the Deployment web cannot create pods: exceeded quota",
  ],
])("is progressing while %s", (_, status, message) => {
  expect(rolloutOf(deployment(2, status))).toEqual({ state: "progressing", reason: "Progressing", message });
});

test("is done when all pods are new and available, even with zero pods", () => {
  expect(rolloutOf(deployment(2, all(2)))).toMatchObject({
    state: "done",
    message: "2 of 2 pods are available",
  });
  expect(rolloutOf(deployment(undefined, all(1)))).toMatchObject({ state: "done" });
  expect(rolloutOf(deployment(0, { observedGeneration: 2 }))).toMatchObject({ state: "done" });
});

const exceeded = {
  type: "Progressing",
  status: "False",
  reason: "ProgressDeadlineExceeded",
  message: "no progress",
};

test("has failed after its deadline, unless a later change is pending", () => {
  const status = { ...all(2), updatedReplicas: 1, conditions: [exceeded] };
  expect(rolloutOf(deployment(2, status))).toMatchObject({
    state: "failed",
    reason: "ProgressDeadlineExceeded",
    message:
      "the pods of the Deployment web do not become ready: no progress. The previous pods keep running. See kubectl describe pods.",
  });
  expect(rolloutOf(deployment(2, status, { generation: 3 }))).toMatchObject({ state: "progressing" });
});

test("reports the worst state among several Deployments", () => {
  const done = deployment(1, all(1), { name: "done" });
  const slow = deployment(2, all(1), { name: "slow" });
  const failed = deployment(1, { ...all(1), conditions: [exceeded] }, { name: "failed" });
  fc.assert(
    fc.property(fc.shuffledSubarray([done, done, slow, failed], { minLength: 1 }), (deployments) => {
      const expected = deployments.includes(failed)
        ? "failed"
        : deployments.includes(slow)
          ? "progressing"
          : "done";
      expect(rolloutOfAll(deployments).state).toBe(expected);
    }),
  );
  expect(rolloutOfAll([])).toMatchObject({ state: "done", reason: "NothingToRollOut" });
});

test("writes the selector as text that Kubernetes parses as the same selector", () => {
  const matchExpressions = [
    { key: "tier", operator: "In", values: ["a", "b"] },
    { key: "old", operator: "NotIn", values: ["yes"] },
    { key: "there", operator: "Exists" },
    { key: "gone", operator: "DoesNotExist" },
  ];
  const selector = { matchLabels: { b: "2", a: "1" }, matchExpressions };
  expect(selectorText({ ...deployment(1, undefined), spec: { selector } })).toBe(
    "!gone,a=1,b=2,old notin (yes),there,tier in (a,b)",
  );
  expect(selectorText(deployment(1, undefined))).toBe("");
});

test("finds an image in any container", () => {
  const template = { spec: { containers: [{ image: "side:1" }, { image: "web:1" }] } };
  const found = { ...deployment(1, undefined), spec: { template } };
  expect(hasImage(found, "web:1")).toBe(true);
  expect(hasImage(found, "web:2")).toBe(false);
  expect(hasImage(deployment(1, undefined), "web:1")).toBe(false);
});
