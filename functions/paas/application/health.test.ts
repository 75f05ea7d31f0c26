import { expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import { unreadyChild, unreadyOf } from "./health.ts";

const object = (
  type: string,
  { spec = {}, status, metadata = {} }: { spec?: object; status?: object; metadata?: object },
): Stored => {
  const [apiVersion = "", kind = ""] = type.split(" ");
  const named = { name: "a", uid: "u", resourceVersion: "1", generation: 2, ...metadata };
  return { apiVersion, kind, metadata: named, spec, ...(status && { status }) } as Stored;
};
const certificate = (status: object, metadata?: object) =>
  object("cert-manager.io/v1 Certificate", { status, ...(metadata && { metadata }) });
const ready = (status: string, more: object = {}) => ({
  conditions: [{ type: "Ready", status, reason: "Issuing", message: "not yet", ...more }],
});

test.each([
  ["reports no status", object("batch/v1 CronJob", {})],
  ["is Ready", certificate(ready("True"))],
  ["was not Ready before its last change", certificate(ready("False", { observedGeneration: 1 }))],
  ["is a bound claim", object("v1 PersistentVolumeClaim", { status: { phase: "Bound" } })],
  [
    "is a StatefulSet with all pods ready",
    object("apps/v1 StatefulSet", {
      spec: { replicas: 2 },
      status: { observedGeneration: 2, readyReplicas: 2, updatedReplicas: 2 },
    }),
  ],
  ["is a StatefulSet without pods", object("apps/v1 StatefulSet", { spec: { replicas: 0 }, status: {} })],
  ["is a running Job", object("batch/v1 Job", { status: { active: 1 } })],
])("treats an object that %s as ready", (_, found) => {
  expect(unreadyOf(found)).toBeUndefined();
});

test.each([
  ["is not Ready", certificate(ready("False")), "progressing", "Ready is False (Issuing): not yet"],
  ["may be Ready", certificate(ready("Unknown")), "progressing", "Ready is Unknown"],
  [
    "was Ready before its last change",
    certificate({ observedGeneration: 1, ...ready("True") }),
    "progressing",
    "has not observed the last change",
  ],
  [
    "is being deleted",
    certificate(ready("True"), { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    "progressing",
    "it is being deleted",
  ],
  [
    "is stalled",
    certificate({
      conditions: [{ type: "Stalled", status: "True", reason: "Broken" }, ...ready("False").conditions],
    }),
    "failed",
    "Stalled is True (Broken)",
  ],
  [
    "is Reconciling",
    certificate({ conditions: [{ type: "Reconciling", status: "True" }] }),
    "progressing",
    "Reconciling is True",
  ],
  [
    "is a failed Job",
    object("batch/v1 Job", {
      status: { conditions: [{ type: "Failed", status: "True", reason: "BackoffLimitExceeded" }] },
    }),
    "failed",
    "BackoffLimitExceeded",
  ],
  ["is a claim without a volume", object("v1 PersistentVolumeClaim", {}), "progressing", "it is Pending"],
  [
    "is a claim with a lost volume",
    object("v1 PersistentVolumeClaim", { status: { phase: "Lost" } }),
    "failed",
    "its volume is lost",
  ],
  [
    "is a StatefulSet during a rollout",
    object("apps/v1 StatefulSet", {
      spec: { replicas: 2 },
      status: { readyReplicas: 2, updatedReplicas: 1 },
    }),
    "progressing",
    "1 of 2 pods",
  ],
  [
    "is a DaemonSet that does not run on all nodes",
    object("apps/v1 DaemonSet", {
      status: { desiredNumberScheduled: 3, numberReady: 2, updatedNumberScheduled: 3 },
    }),
    "progressing",
    "2 of 3 pods",
  ],
])("waits for an object that %s", (_, found, state, message) => {
  expect(unreadyOf(found)).toMatchObject({ state, message: expect.stringContaining(message) });
});

test("names a failed child before unready ones, and skips built-in kinds", () => {
  const claim = object("v1 PersistentVolumeClaim", { status: { phase: "Lost" } });
  const waiting = certificate(ready("False"));
  const policy = object("networking.k8s.io/v1 NetworkPolicy", { status: ready("False") });
  expect(unreadyChild([policy])).toBeUndefined();
  expect(unreadyChild([policy, waiting])?.message).toBe(
    "the Certificate a: Ready is False (Issuing): not yet",
  );
  expect(unreadyChild([policy, waiting, claim])).toEqual({
    state: "failed",
    message: "the PersistentVolumeClaim a: its volume is lost",
  });
});
