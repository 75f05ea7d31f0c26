import { deploymentOf as partOf } from "@denrei/functions/pipecd/controlplane/partobjects";
import { cache, gateway, ops, server } from "@denrei/functions/pipecd/controlplane/parts";
import type { Application, ControlPlane, Environment, Piped } from "@denrei/functions/pipecd/kinds";
import { objectsOf } from "@denrei/functions/pipecd/piped/pipedobjects";
import type { Deployment, Stored } from "denrei/kinds";
import { expect, test } from "vitest";
import { driftOf } from "./drift.ts";

const metadata = { name: "web", namespace: "team", uid: "u", resourceVersion: "1", generation: 3 };
const ready = (status: "True" | "False", message = "") => [
  { type: "Ready", status, reason: "Ready", message, lastTransitionTime: "" },
];
const of = <T extends object>(kind: string, spec: object, status: object = {}) =>
  ({
    apiVersion: "pipecd.kanatakita.com/v1beta1",
    kind,
    metadata,
    spec,
    status: { observedGeneration: 3, conditions: ready("True"), ...status },
  }) as unknown as Stored & T;

const mount = { mountPath: "/etc/ca", volume: { name: "ca", secret: { secretName: "ca" } } };
const names = { name: "agent", description: "", projectID: "quickstart" };
const piped = (spec: object = {}, status: object = {}) =>
  of<Piped>(
    "Piped",
    { ...names, version: "v0.57.0", config: {}, volumeMounts: [mount], ...spec },
    { registered: names, ...status },
  );
const plane = (spec: object = {}) =>
  of<ControlPlane>("ControlPlane", { version: "v0.57.0", config: {}, ...spec }, { profile: "C" });

/** As the API server stores a rendered workload, with all its pods running. */
function stored(child: { readonly name: string; readonly labels?: unknown; readonly content: object }) {
  const { spec } = child.content as { spec: { replicas: number } };
  const { replicas } = spec;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      ...metadata,
      name: child.name,
      labels: child.labels,
      ownerReferences: [{ uid: "u", controller: true }],
    },
    spec,
    status: { observedGeneration: 3, replicas, updatedReplicas: replicas, availableReplicas: replicas },
  } as unknown as Stored<Deployment>;
}

/** The Deployment that the function renders for a Piped. */
const pipedDeployment = (from: Stored & Piped) =>
  stored(objectsOf({ piped: from, profile: "C", pipedID: "id", config: "", secrets: "" }).at(-1) as never);

/** The Deployments that the function renders for a ControlPlane. */
const planeDeployments = (from: Stored & ControlPlane) => {
  const blueprint = {
    plane: from,
    profile: "C",
    config: "",
    envoy: "",
    secrets: "",
    datastoreSince: undefined,
  } as const;
  return [gateway, server, cache, ops].map((part) => stored(partOf(from, part(blueprint)) as never));
};

const drift = (
  object: Stored,
  items: readonly Stored<Deployment>[] = [],
  { state = "live" as "live" | "refused" | "loading", stack = [] as readonly Stored[] } = {},
) => driftOf(object, { workloads: { state, items, asOf: state === "live" ? 1 : undefined }, stack });

const same = { tone: "good", sentence: "Everything that you asked for is running.", differences: [] };

test("what the functions render for a Piped and a ControlPlane is what they ask for", () => {
  expect(drift(piped(), [pipedDeployment(piped())])).toEqual(same);
  for (const spec of [{}, { replicas: 2, replicasCache: 0, redisVersion: "7", volumeMounts: [mount] }])
    expect(drift(plane(spec), planeDeployments(plane(spec)))).toEqual(same);
});

test("names the settings of a Piped that its pod does not have, and those that PipeCD does not have", () => {
  const changed = piped({
    version: "v1.0.0",
    name: "renamed",
    volumeMounts: [mount, { ...mount, mountPath: "/etc/other" }],
  });
  expect(drift(changed, [pipedDeployment(piped())])).toEqual({
    tone: "busy",
    sentence: "These settings are not what you asked for.",
    differences: [
      { setting: "Name in PipeCD", wanted: "renamed", running: "agent" },
      { setting: "Version", wanted: "v1.0.0", running: "v0.57.0" },
      { setting: "Volume at /etc/other", wanted: JSON.stringify(mount.volume), running: "not set" },
    ],
  });
});

test("reads the version from the tag of the image, whatever its registry is", () => {
  const deployment = pipedDeployment(piped());
  const [container] = deployment.spec.template?.spec?.containers ?? [];
  const image = (name: string) => {
    const template = {
      spec: { ...deployment.spec.template?.spec, containers: [{ ...container, image: name }] },
    };
    return drift(piped(), [{ ...deployment, spec: { ...deployment.spec, template } } as never])?.differences;
  };
  expect(image("mirror.example.com:5000/piped:v0.57.0@sha256:0123")).toEqual([]);
  expect(image("mirror.example.com:5000/piped")).toEqual([
    { setting: "Version", wanted: "v0.57.0", running: "not set" },
  ]);
});

test("compares each component of a ControlPlane by its label", () => {
  const deployments = planeDeployments(plane());
  const changed = plane({ version: "v0.57.1", envoyVersion: "v1.32.0", replicasOps: 2 });
  expect(drift(changed, deployments.reverse())?.differences).toEqual([
    { setting: "Version of gateway", wanted: "v1.32.0", running: "v1.31.0" },
    { setting: "Version of server", wanted: "v0.57.1", running: "v0.57.0" },
    { setting: "Pods of ops", wanted: "2", running: "1" },
    { setting: "Version of ops", wanted: "v0.57.1", running: "v0.57.0" },
  ]);
  const missing = deployments.filter(({ metadata: { name } }) => name !== "web-cache");
  expect(drift(plane(), missing)).toEqual({
    tone: "bad",
    sentence: "The Deployment of cache is missing.",
    differences: [],
  });
});

test.each([
  ["is being deleted", { deletionTimestamp: "2030-01-01T00:00:00Z" }, "busy", "The Piped is being deleted."],
  [
    "was changed just now",
    { generation: 4 },
    "busy",
    "Not reconciled yet: the platform has not applied your last change.",
  ],
] as const)("says that an object %s", (_, more, tone, sentence) => {
  const object = { ...piped(), metadata: { ...metadata, ...more } };
  expect(drift(object, [pipedDeployment(piped())])).toMatchObject({ tone, sentence });
});

test("gives the reason of the condition Ready only for something that is missing or differs", () => {
  const failed = { conditions: ready("False", "the version is not supported") };
  expect(drift(piped({ version: "v0.1.0" }, failed), [pipedDeployment(piped())])).toMatchObject({
    tone: "bad",
    sentence: "Your last change is not applied: the version is not supported",
  });
  expect(drift(piped({}, failed), [])).toMatchObject({
    sentence: "Your last change is not applied: the version is not supported",
  });
  expect(drift(piped({}, failed), [pipedDeployment(piped())])).toEqual(same);
  expect(drift(piped({}, { registered: undefined }), [pipedDeployment(piped())])).toMatchObject({
    tone: "busy",
    sentence: "PipeCD has not registered it yet.",
  });
});

test("does not claim anything about workloads that are not loaded or not visible", () => {
  expect(drift(piped(), [], { state: "loading" })).toMatchObject({ tone: "off" });
  expect(drift(piped(), [], { state: "refused" })?.sentence).toMatch(/^You cannot view Deployments/);
  const deployment = pipedDeployment(piped());
  const rolling = { ...deployment, status: { ...deployment.status, availableReplicas: 0 } };
  expect(drift(piped(), [rolling as never])).toMatchObject({ tone: "busy", sentence: "web: rolling out." });
  const foreign = { ...deployment, metadata: { ...deployment.metadata, ownerReferences: [] } };
  expect(drift(piped(), [foreign])).toMatchObject({ tone: "bad", sentence: "The Deployment is missing." });
});

test("compares an Application with what PipeCD has registered", () => {
  const registered = {
    name: "site",
    projectID: "quickstart",
    pipedID: "p1",
    repository: "site",
    path: "web",
    kind: "KUBERNETES",
    configFilename: "app.pipecd.yaml",
    provider: "kubernetes-default",
  };
  const spec = { ...registered, pipedRef: { objectName: "web", name: "agent" }, configFilename: undefined };
  const application = (more: object) => of<Application>("Application", { ...spec, ...more }, { registered });
  const stack = [piped({}, { pipedID: "p2" })];
  expect(drift(application({}))).toEqual(same);
  expect(
    drift(application({ path: "docs", cloudProvider: "k8s", configFilename: "x.yaml" }), [], { stack })
      ?.differences,
  ).toEqual([
    { setting: "ID of the Piped", wanted: "p2", running: "p1" },
    { setting: "Path", wanted: "docs", running: "web" },
    { setting: "Configuration file", wanted: "x.yaml", running: "app.pipecd.yaml" },
    { setting: "Provider", wanted: "k8s", running: "kubernetes-default" },
  ]);
  const plugins = { deployTargetsByPlugin: { kubernetes: ["b", "a"] } };
  expect(drift(application(plugins))?.differences).toEqual([
    { setting: "Deploy targets", wanted: "kubernetes: b, a", running: "not set" },
  ]);
});

test("compares nothing where PipeCD keeps no record and nothing runs", () => {
  expect(drift(of<Environment>("Environment", { name: "prod", projectID: "p" }))).toBeUndefined();
  expect(drift(of("EventRegistration", {}))).toBeUndefined();
});
