import { describe, expect, test } from "vitest";
import { type Program, type StoreOptions, serviceOf, statefulSetOf } from "./statefulset.ts";

const program: Program = {
  image: "mongo:4.2",
  port: 27017,
  dataPath: "/data/db",
  readinessProbe: { tcpSocket: { port: 27017 } },
};
const options = (more: Partial<StoreOptions> = {}): StoreOptions => ({
  name: "m",
  component: "mongo",
  program,
  storage: undefined,
  digest: "abc",
  ...more,
});

const labelsOf = (name: string, component: string) => ({
  "app.kubernetes.io/name": "pipecd",
  "app.kubernetes.io/instance": "pipecd",
  "app.kubernetes.io/component": component,
  name,
});

interface Spec {
  readonly replicas: number;
  readonly serviceName: string;
  readonly template: {
    readonly spec: { readonly containers: readonly object[]; readonly volumes?: unknown };
  };
  readonly volumeClaimTemplates?: unknown;
}
const specOf = (more: Partial<StoreOptions> = {}) => statefulSetOf(options(more)).content.spec as Spec;

test.each(["minio", "mongo", "mysql"] as const)("a %s has one pod and a Service", (component) => {
  const labels = labelsOf("m", component);
  const set = statefulSetOf(options({ component }));
  expect([set.kind.kind, set.name]).toEqual(["StatefulSet", `m-${component}`]);
  expect(set.content.spec).toMatchObject({
    replicas: 1,
    serviceName: `m-${component}`,
    selector: { matchLabels: labels },
    template: { metadata: { labels } },
  });
  const service = serviceOf(options({ component }));
  expect([service.kind.kind, service.name]).toEqual(["Service", `m-${component}`]);
  expect(service.content).toEqual({
    spec: {
      type: "ClusterIP",
      selector: labels,
      ports: [{ name: "service", port: 27017, targetPort: component, protocol: "TCP" }],
    },
  });
});

test("the container runs the program, and mounts the data volume", () => {
  expect(specOf().template.spec.containers).toEqual([
    {
      name: "mongo",
      image: "mongo:4.2",
      imagePullPolicy: "IfNotPresent",
      ports: [{ name: "mongo", containerPort: 27017, protocol: "TCP" }],
      readinessProbe: program.readinessProbe,
      volumeMounts: [{ name: "volume", mountPath: "/data/db" }],
    },
  ]);
  const more = { args: ["server", "/data"], env: [{ name: "A", value: "b" }] };
  expect(specOf({ program: { ...program, ...more } }).template.spec.containers).toMatchObject([more]);
});

describe("the data volume is", () => {
  const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const emptyDir = { medium: "Memory", sizeLimit: "1Gi" };
  const keptIn = (storage: StoreOptions["storage"]) => {
    const { template, volumeClaimTemplates } = specOf({ storage });
    return { volumes: template.spec.volumes, claims: volumeClaimTemplates };
  };
  const inPod = (fields: object) => ({ volumes: [{ name: "volume", emptyDir: fields }], claims: undefined });

  test.each<readonly [string, StoreOptions["storage"], ReturnType<typeof keptIn>]>([
    ["an emptyDir without spec.storage", undefined, inPod({})],
    ["an emptyDir with an empty spec.storage", {}, inPod({})],
    ["an emptyDir", { emptyDir: {} }, inPod({})],
    ["an emptyDir with its fields", { emptyDir }, inPod(emptyDir)],
    ["an emptyDir if both are set", { emptyDir, volumeClaimTemplate: { spec: claim } }, inPod(emptyDir)],
    [
      "a claim",
      { volumeClaimTemplate: { spec: claim } },
      { volumes: undefined, claims: [{ metadata: { name: "volume" }, spec: claim }] },
    ],
  ])("%s", (_, storage, expected) => {
    expect(keptIn(storage)).toEqual(expected);
    expect(specOf({ storage }).template.spec.containers).toMatchObject([
      { volumeMounts: [{ name: "volume", mountPath: "/data/db" }] },
    ]);
  });
});

test("a new digest rolls the pod", () => {
  const annotations = { "pipecd.kanatakita.com/content-digest": "other" };
  expect(specOf({ digest: "other" })).toMatchObject({ template: { metadata: { annotations } } });
});

test("two stores of a namespace select different pods", () => {
  const selectorOf = (more: Partial<StoreOptions>) =>
    JSON.stringify((serviceOf(options(more)).content.spec as { selector: unknown }).selector);
  const all = (["minio", "mongo", "mysql"] as const).flatMap((component) =>
    ["m", "n"].map((name) => selectorOf({ name, component })),
  );
  expect(new Set(all).size).toBe(6);
});
