import { expect, test } from "vitest";
import type { ConditionUpdate } from "../../../bus/kube/conditions.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { DeploymentObject } from "../../../bus/kube/rollout.ts";
import type { Application } from "../kinds/application.ts";
import { eventsFor, type ReconcileResult, type StatusUpdate, statusOf } from "./status.ts";

const now = new Date("2026-01-02T03:04:05Z");

const app = (
  spec: Partial<Application["spec"]> = {},
  status?: Application["status"],
  annotations?: Record<string, string>,
): Stored<Application> => ({
  apiVersion: "modoki.tsuzu.dev/v1alpha1",
  kind: "Application",
  metadata: { name: "web", uid: "u", resourceVersion: "1", ...(annotations && { annotations }) },
  spec: { domains: ["web.example.com"], image: "web:2", replicas: 1, ...spec },
  ...(status && { status }),
});

const deployment = (image: string, status: DeploymentObject["status"]): DeploymentObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", generation: 1 },
  spec: {
    replicas: 1,
    selector: { matchLabels: { "modoki-app": "web" } },
    template: { spec: { containers: [{ image }] } },
  },
  ...(status && { status }),
});
const running = {
  observedGeneration: 1,
  replicas: 1,
  updatedReplicas: 1,
  readyReplicas: 1,
  availableReplicas: 1,
};
const exceeded = [
  { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "late" },
];

const found = (more: Partial<ReconcileResult> = {}): ReconcileResult => ({
  deployments: [deployment("web:2", running)],
  children: [],
  scheme: "https",
  now,
  ...more,
});
const states = (conditions: readonly ConditionUpdate[]) =>
  Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
const applied = { step: "Applied", reason: "Invalid", message: "not so" } as const;
const rendered = { step: "Rendered", reason: "ChartThrew", message: "no chart" } as const;

test("is deployed with URLs, pods, and image", () => {
  const { status, conditions } = statusOf(app({ domains: ["*.example.com", "web.example.com"] }), found());
  expect(status).toStrictEqual({
    status: "deployed",
    message: "",
    domains: ["*.example.com", "web.example.com"],
    url: "https://web.example.com",
    urls: ["https://web.example.com"],
    replicas: 1,
    readyReplicas: 1,
    selector: "modoki-app=web",
    currentImage: "web:2",
    history: [{ image: "web:2", time: "2026-01-02T03:04:05Z" }],
  });
  expect(states(conditions)).toEqual({
    Rendered: "True Rendered",
    Applied: "True Applied",
    RolledOut: "True RolledOut",
    Ready: "True Deployed",
  });
});

test("is progressing during a rollout, without a message and with the previous image", () => {
  const { status, conditions } = statusOf(
    app({}, { currentImage: "web:1" }),
    found({ deployments: [deployment("web:2", { ...running, updatedReplicas: 0 })] }),
  );
  expect(status).toMatchObject({ status: "progressing", message: "" });
  expect(status).not.toHaveProperty("currentImage");
  expect(states(conditions)).toMatchObject({ RolledOut: "False Progressing", Ready: "False Progressing" });
});

test("has failed with a message when pods do not become ready", () => {
  const { status, conditions } = statusOf(
    app(),
    found({ deployments: [deployment("web:2", { ...running, conditions: exceeded })] }),
  );
  expect(status).toMatchObject({ status: "failed", message: expect.stringContaining("late") });
  expect(states(conditions)).toMatchObject({
    Applied: "True Applied",
    Ready: "False ProgressDeadlineExceeded",
  });
});

test("reports no pods and URLs after a failure on the first reconcile", () => {
  const { status, conditions } = statusOf(app(), found({ problem: rendered, deployments: [] }));
  expect(status).toStrictEqual({ status: "failed", message: "no chart" });
  expect(states(conditions)).toEqual({ Rendered: "False ChartThrew", Ready: "False ChartThrew" });
});

test("is an error after a refusal, and reports what runs", () => {
  const deployments = [deployment("web:1", running)];
  const { status, conditions } = statusOf(
    app({}, { currentImage: "web:1" }),
    found({ problem: applied, deployments }),
  );
  expect(status).toStrictEqual({
    status: "error",
    message: "not so",
    replicas: 1,
    readyReplicas: 1,
    selector: "modoki-app=web",
  });
  expect(states(conditions)).toEqual({
    Rendered: "True Rendered",
    Applied: "False Invalid",
    RolledOut: "True RolledOut",
    Ready: "False Invalid",
  });
});

test("reports the running image although another object was refused", () => {
  expect(statusOf(app(), found({ problem: applied })).status).toMatchObject({ currentImage: "web:2" });
});

test("does not wait for a rollout without a Deployment", () => {
  const { status } = statusOf(app(), found({ deployments: [] }));
  expect(status).toMatchObject({ status: "deployed", replicas: 0, readyReplicas: 0, selector: "" });
});

test("reports no current image without one, and keeps the history", () => {
  const history = [{ image: "web:1", time: "2026-01-01T00:00:00Z" }];
  const { status } = statusOf(app({ image: "" }, { currentImage: "web:1", history }), found());
  expect(status.currentImage).toBe("");
  expect(status).not.toHaveProperty("history");
});

test("reports a pinned image with its own revision, not that of the built image", () => {
  const history = [
    { image: "web:2", revision: "two", time: "2026-01-01T00:00:01Z" },
    { image: "web:1", revision: "one", time: "2026-01-01T00:00:00Z" },
  ];
  const annotations = { "modoki.tsuzu.dev/revision": "two" };
  const pinned = statusOf(app({ pinnedImage: "web:1" }, { history }, annotations), found());
  expect(pinned.status.history?.[0]).toMatchObject({ image: "web:1", revision: "one" });
  const free = statusOf(app({}, { history: history.slice(1) }, annotations), found());
  expect(free.status.history?.[0]).toMatchObject({ image: "web:2", revision: "two" });
});

test("records an Event for a new running image and for a failed rollout, each once", () => {
  const failure = statusOf(
    app(),
    found({ deployments: [deployment("web:2", { ...running, conditions: exceeded })] }),
  );
  const success = statusOf(app(), found());
  const reasons = (update: StatusUpdate, before?: Application["status"]) =>
    eventsFor(app({}, before), update).map(({ reason }) => reason);
  const conditions = failure.conditions.map((one) => ({ ...one, lastTransitionTime: "" }));
  expect(reasons(success)).toEqual(["Deployed"]);
  expect(reasons(success, { currentImage: "web:2" })).toEqual([]);
  expect(reasons(failure)).toEqual(["ProgressDeadlineExceeded"]);
  expect(reasons(failure, { conditions })).toEqual([]);
  expect(reasons(statusOf(app(), found({ problem: rendered, deployments: [] })))).toEqual([]);
});
