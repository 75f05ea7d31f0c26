import { expect, test } from "vitest";
import { healthOfAny } from "./health.ts";

const health = (apiVersion: string, kind: string, spec: object, status?: object, generation = 1) =>
  healthOfAny({ apiVersion, kind, metadata: { name: "web", generation }, spec, ...(status && { status }) });

const ready = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };

test.each(["Deployment", "StatefulSet"])("a %s is ready when all its current pods are available", (kind) => {
  const of = (status: object, replicas = 2, generation = 1) =>
    health("apps/v1", kind, { replicas }, status, generation);
  expect(of(ready)).toEqual(["good", "Ready"]);
  expect(of({ ...ready, availableReplicas: 1 })).toEqual(["busy", "Rolling out"]);
  expect(of({ ...ready, updatedReplicas: 1 })).toEqual(["busy", "Rolling out"]);
  expect(of(ready, 2, 2)).toEqual(["busy", "Rolling out"]);
  expect(of({ observedGeneration: 1 }, 0)).toEqual(["off", "Scaled to 0"]);
});

test("a Deployment that exceeds its deadline has failed", () => {
  const conditions = [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }];
  expect(health("apps/v1", "Deployment", {}, { ...ready, conditions })).toEqual(["bad", "Rollout failed"]);
});

test("a Service is ready, unless it waits for the address of a load balancer", () => {
  expect(health("v1", "Service", {})).toEqual(["good", "Ready"]);
  expect(health("v1", "Service", { type: "LoadBalancer" })).toEqual(["busy", "Waiting for an address"]);
  const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
  expect(health("v1", "Service", { type: "LoadBalancer" }, status)).toEqual(["good", "Ready"]);
});

test("an object of any kind is shown as being deleted", () => {
  const metadata = { name: "web", deletionTimestamp: "2030-01-01T00:00:00Z" };
  expect(healthOfAny({ apiVersion: "v1", kind: "Service", metadata, spec: {} })).toEqual([
    "busy",
    "Deleting",
  ]);
});
