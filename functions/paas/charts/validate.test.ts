import { describe, expect, test } from "vitest";
import { ConfigMap } from "../../../bus/kube/kind.ts";
import { ChartError } from "./chart.ts";
import { checkedObjects } from "./validate.ts";

const namespace = "team-a";
const checked = (...rendered: unknown[]) => checkedObjects(rendered, { namespace });
const configMap = (name: string, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data: { a: "1" },
});

/** The reason and the message of the thrown error. */
function refusal(rendered: unknown[]): string {
  try {
    checked(...rendered);
  } catch (error) {
    if (error instanceof ChartError) return `${error.reason}: ${error.message}`;
    throw error;
  }
  return "nothing was thrown";
}

test("returns objects unchanged and in order, in the namespace of the application", () => {
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace, labels: { a: "b" }, annotations: { c: "d" } },
    spec: { replicas: 0, template: { spec: { containers: [] } } },
  };
  expect(checked(deployment, configMap("web"))).toEqual([deployment, configMap("web", { namespace })]);
});

test("drops empty values, status, and fields of the API server", () => {
  const [object] = checked(null, undefined, {
    ...configMap("web", {
      namespace: null,
      uid: "1",
      resourceVersion: "2",
      generation: 3,
      creationTimestamp: null,
      managedFields: [],
      selfLink: "/x",
      finalizers: null,
      labels: { a: undefined, b: "c" },
    }),
    data: { a: null, b: "1" },
    list: [1, null, { c: undefined }],
    status: { ready: true },
  });
  expect(JSON.stringify(object)).toBe(
    JSON.stringify({
      apiVersion: "v1",
      kind: "ConfigMap",
      data: { b: "1" },
      list: [1, {}],
      metadata: { name: "web", labels: { b: "c" }, namespace },
    }),
  );
});

test("returns copies", () => {
  const object = configMap("web");
  Object.assign(checked(object)[0]!.data as object, { a: "2" });
  expect(object).toEqual(configMap("web"));
});

test("accepts field names that JavaScript uses", () => {
  const [object] = checked(
    JSON.parse('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"__proto__":{"x":1}}'),
  );
  expect(JSON.stringify(object)).toContain('"__proto__":{"x":1}');
});

test("accepts the same name for several kinds", () => {
  const service = { apiVersion: "v1", kind: "Service", metadata: { name: "web" } };
  expect(checked(configMap("web"), service)).toHaveLength(2);
});

test.each<[string, unknown[], string]>([
  ["nothing", [], "ChartEmpty: the chart made no objects"],
  ["only empty documents", [null, undefined], "ChartEmpty: the chart made no objects"],
  ["text", ["web"], 'ChartOutputInvalid: document 1: expected a Kubernetes object, found "web"'],
  ["a list", [[configMap("a")]], "ChartOutputInvalid: document 1: expected a Kubernetes object, found [{"],
  ["no apiVersion", [{ kind: "Service" }], "ChartOutputInvalid: document 1: apiVersion: expected text"],
  ["no kind", [{ apiVersion: "v1", kind: 7 }], "kind: expected text such as Deployment, found 7"],
  ["no metadata", [{ apiVersion: "v1", kind: "Service" }], "expected metadata with a name, found nothing"],
  ["no name", [{ apiVersion: "v1", kind: "Service", metadata: {} }], "metadata.name: expected text"],
  ["an empty name", [configMap("")], 'metadata.name: expected text that is the same each time, found ""'],
  ["a name with a path", [configMap("../b")], '"../b" is not a valid name'],
  [
    "a kind that grants rights",
    [
      configMap("a"),
      { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "a" } },
    ],
    "ChartNotAllowed: document 2 (rbac.authorization.k8s.io/v1 ClusterRole): charts may not make objects of this kind: " +
      "it grants rights",
  ],
  [
    "an unlisted kind",
    [{ apiVersion: "batch/v1", kind: "CronJob", metadata: { name: "a" } }],
    "ChartNotAllowed: document 1 (batch/v1 CronJob): expected one of Deployment.apps, Service, " +
      "Ingress.networking.k8s.io, HTTPRoute.gateway.networking.k8s.io, ConfigMap, HorizontalPodAutoscaler.autoscaling, " +
      "PodDisruptionBudget.policy, NetworkPolicy.networking.k8s.io, found CronJob.batch. List the kind under kinds",
  ],
  [
    "a kind of the same name in another group",
    [{ apiVersion: "serving.knative.dev/v1", kind: "Service", metadata: { name: "a" } }],
    "found Service.serving.knative.dev",
  ],
  [
    "a Secret",
    [{ apiVersion: "v1", kind: "Secret", metadata: { name: "a" } }],
    "ChartNotAllowed: document 1 (v1 Secret): charts may not make objects of this kind: the platform has rights for Secrets only in",
  ],
  [
    "a removed version",
    [{ apiVersion: "networking.k8s.io/v1beta1", kind: "Ingress", metadata: { name: "a" } }],
    "ChartNotAllowed: document 1 (networking.k8s.io/v1beta1 Ingress): expected networking.k8s.io/v1, the watched version",
  ],
  [
    "another namespace",
    [configMap("a", { namespace: "team-b" })],
    'ChartNotAllowed: document 1 (v1 ConfigMap): expected the namespace of the Application, team-a, found "team-b"',
  ],
  [
    "an owner",
    [configMap("a", { ownerReferences: [] })],
    "ChartNotAllowed: document 1 (v1 ConfigMap): charts may not set metadata.ownerReferences",
  ],
  [
    "a finalizer",
    [configMap("a", { finalizers: ["x/y"] })],
    'charts may not set metadata.finalizers: it would stay when the Application is deleted. Remove ["x/y"]',
  ],
  ["a generated name", [configMap("a", { generateName: "a-" })], "charts may not set metadata.generateName"],
  [
    "a number as a label",
    [configMap("a", { labels: { b: 1 } })],
    "metadata.labels: expected text for b, found 1",
  ],
  [
    "a list as annotations",
    [configMap("a", { annotations: ["b"] })],
    'metadata.annotations: expected names with values, found ["b"]',
  ],
  [
    "the same object twice",
    [configMap("a"), configMap("b"), configMap("a")],
    "ChartOutputInvalid: document 3: ConfigMap a is already in document 1",
  ],
  [
    "too many objects",
    Array.from({ length: 101 }, (_, at) => configMap(`c${at}`)),
    "the chart made 101 objects, more than 100",
  ],
  [
    "a function",
    [{ ...configMap("a"), data: { b: () => 1 } }],
    "document 1.data.b: a function is not a JSON value",
  ],
  ["a date", [{ ...configMap("a"), data: { b: new Date(0) } }], "a Date is not a JSON value"],
  ["NaN", [{ ...configMap("a"), data: [1, Number.NaN] }], "document 1.data[1]: NaN is not a JSON value"],
])("refuses %s", (_, rendered, message) => {
  expect(refusal(rendered)).toContain(message);
});

test("refuses cycles", () => {
  const data: Record<string, unknown> = {};
  data.data = data;
  expect(refusal([{ ...configMap("a"), data }])).toContain("nested more than 100 levels deep");
});

test("shortens long values in messages", () => {
  expect(refusal([configMap("a", { namespace: "x".repeat(1000) })]).length).toBeLessThan(400);
});

describe("a site's list of kinds", () => {
  test("allows its kinds and no others", () => {
    const allowed = [ConfigMap];
    expect(checkedObjects([configMap("a")], { namespace, allowed })).toHaveLength(1);
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "a" } };
    expect(() => checkedObjects([service], { namespace, allowed })).toThrow(
      "expected one of ConfigMap, found Service",
    );
  });
});
