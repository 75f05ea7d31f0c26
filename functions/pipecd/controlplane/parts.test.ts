import { describe, expect, test } from "vitest";
import type { ControlPlane } from "../kinds.ts";
import { blueprintOf } from "./blueprint.ts";
import type { Component } from "./components.ts";
import { deploymentOf, type Part, serviceOf } from "./partobjects.ts";
import { type Blueprint, cache, gateway, ops, server } from "./parts.ts";

type Spec = ControlPlane["spec"];

const minioConfig = { endpoint: "http://m:9000", bucket: "bucket", accessKeyFile: "/a", secretKeyFile: "/s" };
const stores = {
  "v0.9.0": { mongoDBConfig: { url: "mongodb://m", database: "d" } },
  "v0.57.0": { mysqlConfig: { url: "u@tcp(m)", database: "d" } },
} as const;
type Known = keyof typeof stores;

const planeOf = (version: Known, more: Partial<Spec> = {}): ControlPlane => ({
  apiVersion: "pipecd.kanatakita.com/v1alpha1",
  kind: "ControlPlane",
  metadata: { name: "cp", namespace: "ns" },
  spec: { version, config: { datastore: stores[version], filestore: { minioConfig } }, ...more },
});

const parts = { gateway, server, cache, ops };
const partOf = (component: Component, plane: ControlPlane, more: Partial<Blueprint> = {}): Part =>
  parts[component]({ ...blueprintOf(plane, { secrets: "secrets", datastoreSince: undefined }), ...more });

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly initialDelaySeconds?: number;
}
interface Container {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: unknown;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: unknown;
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}
interface DeploymentSpec {
  readonly template: {
    readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
    readonly spec: {
      readonly containers: readonly [Container];
      readonly volumes?: readonly ({ readonly name: string } & Readonly<Record<string, unknown>>)[];
      readonly terminationGracePeriodSeconds?: number;
    };
  };
}
interface ServiceSpec {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly ports: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
}

/** A component's Deployment and Service in a compact form. */
function seen(component: Component, plane: ControlPlane) {
  const part = partOf(component, plane);
  const deployment = deploymentOf(plane, part);
  const { template } = deployment.content.spec as DeploymentSpec;
  const { containers, volumes = [] } = template.spec;
  const [container] = containers;
  const { spec } = serviceOf(plane, part).content as { readonly spec: ServiceSpec };
  const [first, ...flags] = container.args ?? [];
  return {
    name: deployment.name,
    container: container.name,
    image: container.image,
    ...(container.command && { command: container.command }),
    args: component === "gateway" ? [first, ...flags] : [first, ...flags.toSorted()],
    ports: Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort])),
    probes: [container.livenessProbe, container.readinessProbe],
    mounts: (container.volumeMounts ?? []).map(({ name, mountPath, readOnly = false }) => {
      const volume = volumes.find((one) => one.name === name);
      return [mountPath, volume, readOnly ? "ro" : "rw"];
    }),
    service: spec.ports.map(({ name, port, targetPort }) => `${name} ${port} ${targetPort}`),
    headless: spec.clusterIP === "None",
  };
}

const healthz = { httpGet: { path: "/healthz", port: "admin" } };
const info = { httpGet: { path: "/server_info", port: "envoy-admin" }, initialDelaySeconds: 15 };
const configVolume = (name: string) => ["/etc/pipecd-config", { name, configMap: { name: "pipecd" } }, "ro"];
const secretVolume = [
  "/etc/pipecd-secret",
  { name: "embedded-pipecd-secret", secret: { secretName: "pipecd" } },
  "ro",
];
const configFile = "--config-file=/etc/pipecd-config/control-plane-config.yaml";
const keyFile = "--encryption-key-file=/etc/pipecd-secret/encryption-key";

const gatewayOf = (image: string) => ({
  name: "cp-gateway",
  container: "gateway",
  image,
  command: ["envoy"],
  args: ["-c", "/etc/envoy/envoy-config.yaml"],
  ports: { ingress: 9090, "envoy-admin": 9095 },
  probes: [info, info],
  mounts: [["/etc/envoy", { name: "envoy-config", configMap: { name: "cp-gateway" } }, "ro"]],
  service: ["envoy-admin 9095 envoy-admin"],
  headless: false,
});
const redis = {
  name: "cp-cache",
  container: "cache",
  image: "redis:5.0.5-alpine3.9",
  args: [undefined],
  ports: { redis: 6379 },
  probes: [undefined, { tcpSocket: { port: "redis" } }],
  mounts: [],
  service: ["service 6379 redis"],
  headless: false,
};

describe("up to v0.9.0", () => {
  const plane = planeOf("v0.9.0");
  test("the gateway is Envoy with the v2 API", () => {
    expect(seen("gateway", plane)).toEqual(gatewayOf("envoyproxy/envoy-alpine:v1.10.0"));
  });
  test("the server has three ports and an admin port", () => {
    expect(seen("server", plane)).toEqual({
      name: "cp-server",
      container: "server",
      image: "gcr.io/pipecd/server:v0.9.0",
      args: [
        "server",
        "--cache-address=cp-cache:6379",
        configFile,
        "--enable-grpc-reflection=true",
        keyFile,
        "--insecure-cookie=true",
        "--log-encoding=humanize",
      ],
      ports: { "piped-api": 9080, "web-api": 9081, http: 9082, admin: 9085 },
      probes: [healthz, healthz],
      mounts: [configVolume("embedded-pipecd-config"), secretVolume],
      service: [
        "piped-server 9080 piped-api",
        "web-server 9081 web-api",
        "http 9082 http",
        "admin 9085 admin",
      ],
      headless: false,
    });
  });
  test("the cache is Redis as it comes", () => {
    expect(seen("cache", plane)).toEqual(redis);
  });
  test("ops has its own image, and does not mount the Secret", () => {
    expect(seen("ops", plane)).toEqual({
      name: "cp-ops",
      container: "ops",
      image: "gcr.io/pipecd/ops:v0.9.0",
      args: ["server", configFile],
      ports: { ops: 9082, admin: 9085 },
      probes: [healthz, healthz],
      mounts: [configVolume("pipecd-config")],
      service: ["piped-ops 9082 ops", "admin 9085 admin"],
      headless: false,
    });
  });
});

describe("from v0.37.1", () => {
  const plane = planeOf("v0.57.0");
  test("the gateway is Envoy with the v3 API", () => {
    expect(seen("gateway", plane)).toEqual(gatewayOf("envoyproxy/envoy:v1.31.0"));
  });
  test("the server has a port for API keys, and its Service is headless", () => {
    expect(seen("server", plane)).toEqual({
      name: "cp-server",
      container: "server",
      image: "ghcr.io/pipe-cd/pipecd:v0.57.0",
      args: [
        "server",
        "--cache-address=cp-cache:6379",
        configFile,
        "--enable-grpc-reflection=false",
        keyFile,
        "--insecure-cookie=true",
        "--log-encoding=humanize",
        "--log-level=info",
        "--metrics=true",
      ],
      ports: { "piped-api": 9080, "web-api": 9081, http: 9082, api: 9083, admin: 9085 },
      probes: [healthz, healthz],
      mounts: [configVolume("embedded-pipecd-config"), secretVolume],
      service: [
        "piped-server 9080 piped-api",
        "web-server 9081 web-api",
        "http 9082 http",
        "admin 9085 admin",
        "api-server 9083 api",
      ],
      headless: true,
    });
  });
  test("a terminating server keeps serving for 30 seconds", () => {
    const spec = deploymentOf(plane, partOf("server", plane)).content.spec as DeploymentSpec;
    const { containers, terminationGracePeriodSeconds } = spec.template.spec;
    expect(containers[0].lifecycle).toEqual({ preStop: { exec: { command: ["sleep", "30"] } } });
    // After that, the server itself takes up to 30 seconds (--grace-period).
    expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(60);
  });
  test("the cache is Redis as it comes", () => {
    expect(seen("cache", plane)).toEqual(redis);
  });
  test("ops is another command of the server's image, and mounts the Secret", () => {
    expect(seen("ops", plane)).toEqual({
      name: "cp-ops",
      container: "ops",
      image: "ghcr.io/pipe-cd/pipecd:v0.57.0",
      args: [
        "ops",
        "--cache-address=cp-cache:6379",
        configFile,
        "--log-encoding=humanize",
        "--log-level=info",
        "--metrics=true",
      ],
      ports: { ops: 9082, admin: 9085 },
      probes: [healthz, healthz],
      mounts: [configVolume("pipecd-config"), secretVolume],
      service: ["http 9082 ops", "admin 9085 admin"],
      headless: true,
    });
  });
});

test.each(["v0.57.1", "v0.58.0"])("from v0.57.1 the image is controlplane: %s", (version) => {
  const plane = planeOf("v0.57.0", { version });
  for (const component of ["server", "ops"] as const)
    expect(seen(component, plane).image).toBe(`ghcr.io/pipe-cd/controlplane:${version}`);
});

test("the spec sets the versions of Envoy and Redis", () => {
  const plane = planeOf("v0.57.0", { envoyVersion: "v1.18.3", redisVersion: "7" });
  expect(seen("gateway", plane).image).toBe("envoyproxy/envoy-alpine:v1.18.3");
  expect(seen("cache", plane).image).toBe("redis:7");
});

test.each(["v0.9.0", "v0.57.0"] as const)("no container of %s has environment variables", (version) => {
  const plane = planeOf(version);
  for (const component of ["gateway", "server", "cache", "ops"] as const) {
    const spec = deploymentOf(plane, partOf(component, plane)).content.spec as DeploymentSpec;
    expect(spec.template.spec.containers[0]).not.toHaveProperty("env");
    expect(spec.template.spec.containers[0].imagePullPolicy).toBe("IfNotPresent");
  }
});
