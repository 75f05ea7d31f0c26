import { expect, test } from "vitest";
import type { Condition } from "../../../../bus/kube/object.ts";
import { healthOf, humanize } from "./health.ts";

const condition = (type: string, status: Condition["status"], reason: string): Condition => ({
  type,
  status,
  reason,
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
const object = (conditions: readonly Condition[], more: object = {}, status: object = {}) => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name: "a", generation: 2, ...more },
  spec: {},
  status: { conditions, ...status },
});

test.each([
  ["not reconciled yet", object([]), "off", "Waiting"],
  ["ready", object([condition("Ready", "True", "Deployed")]), "good", "Ready"],
  ["in progress", object([condition("Ready", "False", "Progressing")]), "busy", "Progressing"],
  [
    "a dependency is not ready",
    object([condition("Ready", "False", "EnvironmentNotReady")]),
    "busy",
    "Environment not ready",
  ],
  ["a user error", object([condition("Ready", "False", "SecretNotFound")]), "bad", "Secret not found"],
  ["an unknown state", object([condition("Ready", "Unknown", "Redelivering")]), "busy", "Redelivering"],
  ["paused", object([condition("Ready", "False", "Paused")]), "off", "Paused"],
  [
    "stalled",
    object([condition("Ready", "True", "Deployed"), condition("Stalled", "True", "RetriesExhausted")]),
    "bad",
    "Stalled",
  ],
  [
    "being deleted",
    object([condition("Ready", "True", "Deployed")], { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    "busy",
    "Deleting",
  ],
  [
    "the status describes an older generation",
    object([condition("Ready", "True", "Deployed")], {}, { observedGeneration: 1 }),
    "busy",
    "Updating",
  ],
  [
    "the status describes the current generation",
    object([condition("Ready", "True", "Deployed")], {}, { observedGeneration: 2 }),
    "good",
    "Ready",
  ],
])("summarizes an object's health: %s", (_, thing, tone, word) => {
  expect(healthOf(thing)).toEqual([tone, word]);
});

test.each([
  ["RolledOut", "Rolled out"],
  ["ProgressDeadlineExceeded", "Progress deadline exceeded"],
  ["HTTPRouteNotAccepted", "HTTPRoute not accepted"],
  ["", ""],
])("writes the reason %s as %s", (reason, text) => {
  expect(humanize(reason)).toBe(text);
});
