import { describe, expect, test } from "vitest";
import type { ConditionUpdate } from "../../../bus/kube/conditions.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Deployment } from "../../../bus/kube/workloads.ts";
import type { ControlPlane } from "../kinds.ts";
import { type Component, components } from "./components.ts";
import { type Observed, statusOf } from "./planestatus.ts";

type DeploymentStatus = NonNullable<Stored<Deployment>["status"]>;

const planeOf = (spec: Partial<ControlPlane["spec"]> = {}) => ({
  metadata: { name: "cp" },
  spec: { version: "v0.57.0", config: { datastore: {}, filestore: {} }, ...spec },
});

const running: DeploymentStatus = {
  observedGeneration: 2,
  replicas: 1,
  updatedReplicas: 1,
  readyReplicas: 1,
  availableReplicas: 1,
};
const deployment = (component: Component, status: DeploymentStatus, replicas = 1) =>
  ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: `cp-${component}`, uid: component, resourceVersion: "1", generation: 2 },
    spec: { replicas },
    status,
  }) as unknown as Stored<Deployment>;

/** All four components run, except for those in `other`. */
const deploymentsWith = (other: Observed["deployments"] = {}): Observed["deployments"] => ({
  ...Object.fromEntries(components.map((component) => [component, deployment(component, running)])),
  ...other,
});
const condition = (type: string, status: "True" | "False", reason: string): ConditionUpdate => ({
  type,
  status,
  reason,
  message: `message of ${type}`,
});
const stores = [
  condition("DatastoreReady", "True", "Ready"),
  condition("FilestoreReady", "True", "External"),
] as const;
const observed = (deployments: Observed["deployments"], more: Partial<Observed> = {}): Observed => ({
  profile: "C",
  deployments,
  stores,
  ...more,
});
const readyOf = (...args: Parameters<typeof statusOf>) =>
  statusOf(...args).conditions.find(({ type }) => type === "Ready");

test("the message of Ready lists login providers that PipeCD ignores", () => {
  const client = { clientId: "i", clientSecret: "s" };
  const sharedSSOConfigs = [{ name: "sso", github: client, google: client }];
  const config = { datastore: {}, filestore: {}, sharedSSOConfigs };
  expect(readyOf(planeOf({ config }), observed(deploymentsWith()))).toMatchObject({
    status: "True",
    reason: "Available",
    message:
      "gateway, server, cache, and ops are available. PipeCD uses one provider per SSO configuration and ignores spec.config.sharedSSOConfigs[0].google",
  });
});

test("is ready when all four components are available, and counts the pods of each", () => {
  const server = deployment(
    "server",
    { ...running, replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
    3,
  );
  const update = statusOf(planeOf({ replicasServer: 3 }), observed(deploymentsWith({ server })));
  expect(update.status).toEqual({
    profile: "C",
    availableGatewayReplicas: 1,
    availableServerReplicas: 3,
    availableCacheReplicas: 1,
    availableOpsReplicas: 1,
    serverRevision: "server/0",
  });
  expect(update.conditions).toEqual([
    ...stores,
    {
      type: "Ready",
      status: "True",
      reason: "Available",
      message: "gateway, server, cache, and ops are available",
    },
  ]);
});

describe.each(components)("is not ready while the %s", (component) => {
  test.each<readonly [string, DeploymentStatus]>([
    ["has no available pod", { ...running, availableReplicas: 0 }],
    ["has a generation that was not observed", { ...running, observedGeneration: 1 }],
    ["has only old pods", { ...running, updatedReplicas: 0 }],
    ["still has old pods", { ...running, replicas: 2, availableReplicas: 2 }],
    ["has no status", {}],
  ])("%s", (_, status) => {
    const deployments = deploymentsWith({ [component]: deployment(component, status) });
    expect(readyOf(planeOf(), observed(deployments))).toMatchObject({
      status: "False",
      reason: "Progressing",
    });
  });

  test("has no Deployment", () => {
    const { [component]: _, ...others } = deploymentsWith();
    expect(readyOf(planeOf(), observed(others))).toMatchObject({
      status: "False",
      reason: "Progressing",
      message: expect.stringContaining(component),
    });
  });

  test("exceeds its progress deadline", () => {
    const late = {
      ...running,
      availableReplicas: 0,
      conditions: [
        { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "late" },
      ],
    } as unknown as DeploymentStatus;
    const deployments = deploymentsWith({ [component]: deployment(component, late) });
    expect(readyOf(planeOf(), observed(deployments))).toMatchObject({
      status: "False",
      reason: "ProgressDeadlineExceeded",
      message: expect.stringContaining("late"),
    });
  });
});

test.each([
  ["DatastoreReady", "DatastoreNotReady"],
  ["FilestoreReady", "FilestoreNotReady"],
])("is not ready without its stores: %s", (type, reason) => {
  const failing = stores.map((one) => (one.type === type ? condition(type, "False", "NotFound") : one));
  const { conditions } = statusOf(planeOf(), observed(deploymentsWith(), { stores: failing }));
  expect(conditions.slice(0, 2)).toEqual(failing);
  expect(conditions[2]).toEqual({
    type: "Ready",
    status: "False",
    reason,
    message: `message of ${type}`,
  });
});

test.each([{ replicasServer: 0 }, { replicas: 0 }])("is not ready without replicas: %j", (spec) => {
  const none = deployment("server", { observedGeneration: 2 }, 0);
  expect(readyOf(planeOf(spec), observed(deploymentsWith({ server: none })))).toMatchObject({
    status: "False",
    reason: "ScaledToZero",
  });
});

test("counts no pods for a missing Deployment", () => {
  expect(statusOf(planeOf(), observed({}, { profile: "L0" })).status).toEqual({
    profile: "L0",
    availableGatewayReplicas: 0,
    availableServerReplicas: 0,
    availableCacheReplicas: 0,
    availableOpsReplicas: 0,
  });
});

test("records the revision of the server's Deployment as soon as all pods are new", () => {
  const revisionOf = (status: DeploymentStatus, revision: string) => {
    const server = deployment("server", status);
    server.metadata.annotations = { "deployment.kubernetes.io/revision": revision };
    return statusOf(planeOf(), observed(deploymentsWith({ server }))).status.serverRevision;
  };
  expect(revisionOf(running, "7")).toBe("server/7");
  expect(revisionOf({ ...running, replicas: 2 }, "8")).toBeUndefined();
  expect(revisionOf({ ...running, observedGeneration: 1 }, "8")).toBeUndefined();
  expect(revisionOf(running, "8")).toBe("server/8");
});
