import { describe, expect, test } from "vitest";
import { ControlPlane } from "../kinds.ts";
import { type Component, components, replicasOf } from "./components.ts";
import { deploymentOf, type Part, serviceOf } from "./partobjects.ts";

type Spec = ControlPlane["spec"];

const config = { datastore: {}, filestore: {} };
const planeOf = (name: string, spec: Partial<Spec> = {}) => ({
  metadata: { name, namespace: "ns" },
  spec: { version: "v0.57.0", config, ...spec },
});
const partOf = (more: Partial<Part> = {}): Part => ({
  component: "server",
  image: "image:1",
  ports: [{ name: "http", port: 9082, service: "web" }],
  digest: "abc",
  ...more,
});

describe("replicas", () => {
  const all = (spec: Partial<Spec>) =>
    components.map((component) => `${component} ${replicasOf(planeOf("cp", spec), component)}`);

  test.each<readonly [string, Partial<Spec>, readonly string[]]>([
    ["default to one", {}, ["gateway 1", "server 1", "cache 1", "ops 1"]],
    [
      "of gateway and server default to spec.replicas",
      { replicas: 3 },
      ["gateway 3", "server 3", "cache 1", "ops 1"],
    ],
    [
      "of a component take precedence",
      { replicas: 3, replicasGateway: 2, replicasServer: 4, replicasCache: 5, replicasOps: 6 },
      ["gateway 2", "server 4", "cache 5", "ops 6"],
    ],
    [
      "can be zero",
      { replicas: 3, replicasGateway: 0, replicasServer: 0, replicasCache: 0, replicasOps: 0 },
      ["gateway 0", "server 0", "cache 0", "ops 0"],
    ],
    [
      "of gateway and server can both be zero",
      { replicas: 0 },
      ["gateway 0", "server 0", "cache 1", "ops 1"],
    ],
  ])("%s", (_, spec, expected) => {
    expect(all(spec)).toEqual(expected);
  });

  test.each(["replicas", "replicasGateway", "replicasServer", "replicasCache", "replicasOps"])(
    "cannot be negative: %s",
    (field) => {
      const result = ControlPlane.definition?.spec.safeParse({ ...planeOf("cp").spec, [field]: -1 });
      expect(result?.error?.issues.map(({ path }) => path.join("."))).toContain(field);
    },
  );

  test("are those of the Deployment", () => {
    const plane = planeOf("cp", { replicas: 2, replicasOps: 0 });
    expect(deploymentOf(plane, partOf()).content.spec).toMatchObject({ replicas: 2 });
    expect(deploymentOf(plane, partOf({ component: "ops" })).content.spec).toMatchObject({ replicas: 0 });
  });
});

describe("labels", () => {
  const labelsOf = (name: string, component: Component) => ({
    "app.kubernetes.io/name": "pipecd",
    "app.kubernetes.io/instance": "pipecd",
    "app.kubernetes.io/component": component,
    "pipecd.kanatakita.com/control-plane": name,
  });

  test.each(components)("of a %s separate its pods from those of another control plane", (component) => {
    for (const name of ["a", "b"]) {
      const labels = labelsOf(name, component);
      expect(deploymentOf(planeOf(name), partOf({ component }))).toMatchObject({
        name: `${name}-${component}`,
        content: { spec: { selector: { matchLabels: labels }, template: { metadata: { labels } } } },
      });
      const service = serviceOf(planeOf(name), partOf({ component }));
      expect(service.name).toBe(`${name}-${component}`);
      expect(service.content.spec).toMatchObject({ selector: labels });
    }
  });
});

describe("a Deployment", () => {
  const specOf = (more: Partial<Part>) => deploymentOf(planeOf("cp"), partOf(more)).content.spec;

  test("has the digest on its pods, so that a new digest rolls them", () => {
    const template = (digest: string) => ({
      template: { metadata: { annotations: { "pipecd.kanatakita.com/content-digest": digest } } },
    });
    expect(specOf({ digest: "abc" })).toMatchObject(template("abc"));
    expect(specOf({ digest: "def" })).toMatchObject(template("def"));
  });

  test("has only the fields that its component sets", () => {
    expect(specOf({})).toEqual({
      replicas: 1,
      selector: expect.anything(),
      strategy: expect.anything(),
      template: {
        metadata: expect.anything(),
        spec: {
          containers: [
            {
              name: "server",
              image: "image:1",
              imagePullPolicy: "IfNotPresent",
              ports: [{ name: "http", containerPort: 9082, protocol: "TCP" }],
            },
          ],
        },
      },
    });
  });

  test("has volumes, mounted in its container", () => {
    const volume = { name: "v", emptyDir: {} };
    const mount = { volume, mountPath: "/v", readOnly: true, subPathExpr: "$(POD)" };
    expect(specOf({ mounts: [mount, { volume: { name: "w" }, mountPath: "/w" }] })).toMatchObject({
      template: {
        spec: {
          volumes: [volume, { name: "w" }],
          containers: [
            {
              volumeMounts: [
                { name: "v", mountPath: "/v", readOnly: true, subPathExpr: "$(POD)" },
                { name: "w", mountPath: "/w" },
              ],
            },
          ],
        },
      },
    });
  });

  test("removes a pod only when its replacement is ready", () => {
    expect(specOf({})).toMatchObject({
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
  });

  test("without an HTTP probe is ready when its port accepts connections", () => {
    expect(specOf({ readyPort: "http" })).toMatchObject({
      template: { spec: { containers: [{ readinessProbe: { tcpSocket: { port: "http" } } }] } },
    });
  });
});

describe("a Service", () => {
  test("has only the ports with a Service name", () => {
    const ports = [
      { name: "ingress", port: 9090 },
      { name: "envoy-admin", port: 9095, service: "admin" },
    ];
    expect(serviceOf(planeOf("cp"), partOf({ ports })).content.spec).toMatchObject({
      type: "ClusterIP",
      ports: [{ name: "admin", port: 9095, targetPort: "envoy-admin", protocol: "TCP" }],
    });
  });

  test("has an address unless it is headless", () => {
    expect(serviceOf(planeOf("cp"), partOf()).content.spec).not.toHaveProperty("clusterIP");
    const headless = serviceOf(planeOf("cp"), partOf({ headless: true }));
    expect(headless.content.spec).toMatchObject({ type: "ClusterIP", clusterIP: "None" });
  });
});
