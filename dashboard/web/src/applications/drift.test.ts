import chart from "@denrei/functions/paas/charts/default/chart";
import type { Application } from "@denrei/functions/paas/kinds";
import type { Deployment, Stored } from "denrei/kinds";
import { expect, test } from "vitest";
import type { Child } from "./children.ts";
import { driftOf } from "./drift.ts";

type Spec = Application["spec"];
type Pod = { readonly image: string; readonly isDeleted?: boolean };

const condition = (type: string, status: "True" | "False", message = "") => ({
  type,
  status,
  reason: type,
  message,
  lastTransitionTime: "",
});

const appOf = (spec: Partial<Spec>, status: object = {}): Stored<Application> => ({
  apiVersion: "modoki.tsuzu.dev/v1alpha1",
  kind: "Application",
  metadata: { name: "web", namespace: "team", uid: "u", resourceVersion: "1", generation: 3 },
  spec: { domains: [], replicas: 2, image: "web:2", ...spec },
  status: { observedGeneration: 3, conditions: [condition("Applied", "True")], ...status },
});

const entry = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

/** The Deployment that the built-in chart renders, as its controller and the API server complete it. */
function deploymentOf(spec: Partial<Spec>, status: object = {}): Stored<Deployment> {
  const { pinnedImage, ...rest } = appOf(spec).spec;
  const [deployment] = chart({
    app: {
      metadata: { name: "web", namespace: "team", labels: {} },
      spec: { ...rest, ...(pinnedImage && { image: pinnedImage }) },
    },
    config: {
      scheme: "https",
      noAppImage: "placeholder",
      podSecurity: "baseline",
      progressDeadlineSeconds: 300,
      terminationGracePeriodSeconds: 30,
      serviceDomain: "",
      oauth2ServiceName: "",
      oauth2ServiceNamespace: "",
    },
  }) as Stored<Deployment>[];
  const { replicas } = appOf(spec).spec;
  const counts = {
    replicas,
    updatedReplicas: replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
  };
  return {
    ...(deployment as Stored<Deployment>),
    status: { observedGeneration: 1, ...counts, ...status },
  };
}

const childOf = (object: Stored | undefined, state: "live" | "refused" | "loading" = "live"): Child => ({
  entry,
  object,
  watched: { state, items: object ? [object] : [], asOf: state === "live" ? 1 : undefined },
});

const podOf = ({ image, isDeleted }: Pod) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "pod", ...(isDeleted && { deletionTimestamp: "2030-01-01T00:00:00Z" }) },
  spec: { containers: [{ name: "main", image }] },
});

const drift = (
  wanted: Partial<Spec>,
  running: Partial<Spec>,
  status: object = {},
  pods: readonly Pod[] = [],
) => driftOf(appOf(wanted, status), [childOf(deploymentOf(running))], pods.map(podOf));

const everything: Partial<Spec> = {
  command: ["serve"],
  args: ["--port", "9000"],
  port: 9000,
  env: [
    { name: "GREETING", value: "hello" },
    { name: "EMPTY", value: "" },
    { name: "TOKEN", valueFrom: { secretKeyRef: { name: "tokens", key: "api" } } },
  ],
  envFrom: [{ configMapRef: { name: "settings" } }, { secretRef: { name: "more" }, prefix: "MORE_" }],
  resources: { requests: { cpu: "1000m", memory: "1024Mi" }, limits: { memory: "2Gi" } },
};

test.each([{}, everything, { image: "" }, { image: "", ...everything }, { command: [], args: [], env: [] }])(
  "what the built-in chart renders from a spec does not differ from it",
  (spec) => {
    const { differences, ...state } = drift(spec, spec);
    expect(differences).toEqual([]);
    expect(state).toEqual({ tone: "good", sentence: "Everything that you asked for is running." });
  },
);

test("the API server's way to write values is no difference", () => {
  const stored = {
    ...everything,
    env: [{ name: "GREETING", value: "hello" }, { name: "EMPTY" }, ...(everything.env ?? []).slice(2)],
    resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { memory: "2Gi" } },
  };
  expect(drift(everything, stored).differences).toEqual([]);
});

test("each setting that differs is listed with both values, and Secrets only as references", () => {
  const { tone, sentence, differences } = drift(everything, {
    image: "web:1",
    replicas: 1,
    args: ["--port", "80"],
    env: [
      { name: "GREETING", value: "good day" },
      { name: "TOKEN", valueFrom: { secretKeyRef: { name: "tokens", key: "old" } } },
    ],
    resources: { requests: { cpu: "500m", memory: "1Gi" } },
  });
  expect([tone, sentence]).toEqual(["busy", "These settings are not what you asked for."]);
  expect(differences.map(({ setting, wanted, running }) => [setting, wanted, running])).toEqual([
    ["Pods", "2", "1"],
    ["Image", "web:2", "web:1"],
    ["Command", "serve", "not set"],
    ["Arguments", "--port 9000", "--port 80"],
    ["Variable GREETING", "hello", "good day"],
    ["Variable EMPTY", "empty", "not set"],
    ["Variable TOKEN", "key api of Secret tokens", "key old of Secret tokens"],
    [
      "Variables from Secrets and ConfigMaps",
      "ConfigMap settings, Secret more with the prefix MORE_",
      "not set",
    ],
    ["Port", "9000", "8080"],
    ["Request of cpu", "1000m", "500m"],
    ["Limit of memory", "2Gi", "not set"],
  ]);
});

test("removed settings differ until the platform has applied the removal; later they are the chart's", () => {
  const running = { command: ["serve"], env: [{ name: "A", value: "1" }] };
  const behind = drift({}, running, { observedGeneration: 2 });
  expect(behind.sentence).toBe("Not reconciled yet: the platform has not applied your last change.");
  expect(behind.differences.map(({ setting, wanted }) => [setting, wanted])).toEqual([
    ["Command", "not set"],
    ["Variable A", "not set"],
  ]);
  expect(drift({}, running).differences).toEqual([]);
});

test("a pinned image is the wanted one", () => {
  expect(drift({ pinnedImage: "web:1" }, { image: "web:1" }).differences).toEqual([]);
  expect(drift({ pinnedImage: "web:1" }, {}).differences).toEqual([
    { setting: "Image", wanted: "web:1", running: "web:2" },
  ]);
});

test("pods with the old image differ until they are deleted", () => {
  const old = { image: "web:1" };
  expect(drift({}, {}, {}, [old, { image: "web:2" }]).differences).toEqual([
    { setting: "Image", wanted: "web:2", running: "web:2, web:1" },
  ]);
  expect(drift({}, {}, {}, [{ ...old, isDeleted: true }]).differences).toEqual([]);
});

test("a rollout is counted in pods of the new version", () => {
  const rolling = (status: object) => driftOf(appOf({}), [childOf(deploymentOf({}, status))], []);
  expect(rolling({ updatedReplicas: 1 })).toMatchObject({
    tone: "busy",
    sentence: "Rolling out: 1 of 2 pods run the new version.",
  });
  expect(rolling({ availableReplicas: 1 }).sentence).toBe("Rolling out: 1 of 2 pods are available.");
  const failed = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "m" };
  expect(rolling({ conditions: [failed] })).toMatchObject({
    tone: "bad",
    sentence: expect.stringMatching(
      /^The rollout failed: the pods of the Deployment web do not become ready/,
    ),
  });
});

test("a rejected change is reported with its message", () => {
  const conditions = [condition("Applied", "False", "the API server rejects it")];
  expect(drift({}, {}, { conditions })).toMatchObject({
    tone: "bad",
    sentence: "Your last change is not applied: the API server rejects it",
  });
});

test("only a current list proves that the Deployment is missing", () => {
  const without = (child: Child) => driftOf(appOf({}), [child], []).sentence;
  expect(without(childOf(undefined))).toBe("The Deployment web is missing.");
  expect(without(childOf(undefined, "loading"))).toBe("The Deployment is not loaded yet.");
  expect(without(childOf(undefined, "refused"))).toBe(
    "You cannot view Deployments here, so the page cannot compare.",
  );
  expect(without({ entry: { ...entry, name: "other" } })).toBe(
    "The page compares only a Deployment with the name of the Application, not other.",
  );
  expect(driftOf(appOf({}), [], []).sentence).toBe("Nothing runs yet.");
  const other = [{ apiVersion: "batch/v1", kind: "CronJob", name: "web" }];
  expect(driftOf(appOf({}, { resources: other }), [], []).sentence).toBe(
    "The chart creates no Deployment to compare with.",
  );
});
