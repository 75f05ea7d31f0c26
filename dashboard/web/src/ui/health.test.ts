import { expect, test } from "vitest";
import type { Condition } from "../../../../bus/kube/object.ts";
import { healthOf, spaced } from "./health.ts";

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
  ["nobody has looked at it", object([]), "off", "Waiting"],
  ["it is ready", object([condition("Ready", "True", "Deployed")]), "good", "Ready"],
  ["it is on its way", object([condition("Ready", "False", "Progressing")]), "busy", "Progressing"],
  [
    "something that it needs is not ready",
    object([condition("Ready", "False", "EnvironmentNotReady")]),
    "busy",
    "Environment not ready",
  ],
  ["somebody has to act", object([condition("Ready", "False", "SecretNotFound")]), "bad", "Secret not found"],
  ["nobody knows", object([condition("Ready", "Unknown", "Redelivering")]), "busy", "Redelivering"],
  ["it is paused", object([condition("Ready", "False", "Paused")]), "off", "Paused"],
  [
    "the platform has given up",
    object([condition("Ready", "True", "Deployed"), condition("Stalled", "True", "RetriesExhausted")]),
    "bad",
    "Stalled",
  ],
  [
    "it is being deleted",
    object([condition("Ready", "True", "Deployed")], { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    "busy",
    "Going",
  ],
  [
    "what is said is of the specification before",
    object([condition("Ready", "True", "Deployed")], {}, { observedGeneration: 1 }),
    "busy",
    "Changing",
  ],
  [
    "what is said is of this one",
    object([condition("Ready", "True", "Deployed")], {}, { observedGeneration: 2 }),
    "good",
    "Ready",
  ],
])("%s", (_, thing, tone, word) => {
  expect(healthOf(thing)).toEqual([tone, word]);
});

test.each([
  ["RolledOut", "Rolled out"],
  ["ProgressDeadlineExceeded", "Progress deadline exceeded"],
  ["HTTPRouteNotAccepted", "HTTPRoute not accepted"],
  ["", ""],
])("%s is written %s", (reason, text) => {
  expect(spaced(reason)).toBe(text);
});
