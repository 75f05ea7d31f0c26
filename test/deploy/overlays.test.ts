/** The overlays as they are rendered, and what components make of them. */
import { beforeAll, describe, expect, test } from "vitest";
import { functionConsumers } from "../../bus/topology.ts";
import { interestsOf } from "../../bus/worker/function.ts";
import { functions } from "../../functions/index.ts";
import { containerOf, find, isWorkload, type Manifest, type Workload } from "./manifests.ts";
import { overlay, siteWith } from "./overlays.ts";
import { type ScaledObject, scaledObjectOf } from "./triggers.ts";

const ofKind = <T extends Manifest>(objects: readonly Manifest[], kind: string): T[] =>
  objects.filter((object): object is T => object.kind === kind);

const workersIn = (objects: readonly Manifest[]): Workload[] =>
  objects
    .filter(isWorkload)
    .filter(({ spec }) => spec.template.metadata.labels["app.kubernetes.io/component"] === "worker");

describe("kind", () => {
  let objects: Manifest[];
  beforeAll(async () => {
    objects = await overlay("kind");
    // Where there is no kubectl, kustomize may have to be built first.
  }, 900_000);

  test("has one pod of everything, with the image as it was loaded onto the node", () => {
    const deployments = objects.filter(isWorkload).filter(({ kind }) => kind === "Deployment");
    expect(deployments).toHaveLength(functions.length + 2);
    for (const deployment of deployments) {
      expect(deployment.spec.replicas).toBe(1);
      expect(containerOf(deployment)).toMatchObject({ imagePullPolicy: "Never" });
    }
    expect(find<Workload>(objects, "StatefulSet", "nats").spec.replicas).toBe(1);
  });

  test("takes webhooks at a port of the node", () => {
    expect(find(objects, "Service", "denrei-gateway")).toMatchObject({
      spec: { type: "NodePort", ports: [{ nodePort: 30080, targetPort: "webhooks" }] },
    });
  });
});

describe("production", () => {
  let objects: Manifest[];
  beforeAll(async () => {
    objects = await overlay("production");
  }, 900_000);

  test("has three NATS servers on different nodes, of which one may go, and streams on all of them", () => {
    const nats = find<Workload>(objects, "StatefulSet", "nats");
    expect(nats).toMatchObject({ spec: { replicas: 3, podManagementPolicy: "Parallel" } });
    expect(find(objects, "PodDisruptionBudget", "nats")).toMatchObject({ spec: { maxUnavailable: 1 } });
    const settings = objects.find(({ metadata }) => metadata.name.startsWith("denrei-settings-"));
    expect(settings?.data).toMatchObject({ DENREI_STREAM_REPLICAS: "3" });
  });
});

describe("components/keda", () => {
  let objects: Manifest[];
  beforeAll(async () => {
    objects = await siteWith("keda");
  }, 900_000);

  test("scales each function, from none, by every consumer that its workers serve", () => {
    const scaled = ofKind<ScaledObject>(objects, "ScaledObject");
    expect(scaled.map(({ spec }) => spec.scaleTargetRef.name).sort()).toEqual(
      workersIn(objects)
        .map(({ metadata }) => metadata.name)
        .sort(),
    );
    for (const interest of interestsOf(functions, "default")) {
      const { spec } = scaledObjectOf(objects, interest.scope.fn);
      expect(spec.minReplicaCount).toBe(0);
      const consumers = functionConsumers(interest, { replicas: 3, ackWaitMillis: 30_000 });
      expect(spec.triggers.map(({ metadata }) => [metadata.stream, metadata.consumer])).toEqual(
        consumers.map(([stream, { durable_name }]) => [stream, durable_name]),
      );
    }
  });

  test("leaves it to KEDA how many workers there are", () => {
    for (const { metadata, spec } of workersIn(objects))
      expect([metadata.name, spec.replicas]).toEqual([metadata.name, undefined]);
    expect(find<Workload>(objects, "Deployment", "denrei-bridge").spec.replicas).toBe(2);
  });
});
