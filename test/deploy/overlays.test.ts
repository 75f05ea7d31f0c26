/** The rendered overlays and components. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { functionConsumers } from "../../bus/topology.ts";
import { subscriptionsOf } from "../../bus/worker/function.ts";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";
import { functions } from "../../functions/index.ts";
import manifest from "../../package.json" with { type: "json" };
import { programs } from "../harness/programs.ts";
import { containerOf, find, isWorkload, type Manifest, type Workload } from "./manifests.ts";
import { baseObjects, overlay, shownSite, siteWith } from "./overlays.ts";
import { type ScaledObject, scaledObjectOf } from "./triggers.ts";

const { "nats-server": server } = await programs("nats-server");

const ofKind = <T extends Manifest>(objects: readonly Manifest[], kind: string): T[] =>
  objects.filter((object): object is T => object.kind === kind);

interface Budget extends Manifest {
  readonly spec: {
    readonly maxUnavailable: number;
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  };
}

/** The configuration that the NATS servers mount. */
function natsConfiguration(objects: readonly Manifest[]): Manifest {
  const { volumes } = find<Workload>(objects, "StatefulSet", "nats").spec.template.spec;
  const name = volumes?.find(({ configMap }) => configMap !== undefined)?.configMap?.name;
  return find(objects, "ConfigMap", name ?? "");
}

/** The path of all hooks. */
const webhookPath = "/";

const workersIn = (objects: readonly Manifest[]): Workload[] =>
  objects
    .filter(isWorkload)
    .filter(({ spec }) => spec.template.metadata.labels["app.kubernetes.io/component"] === "worker");

describe("kind", () => {
  let objects: Manifest[];
  beforeAll(async () => {
    objects = await overlay("kind");
    // Without kubectl, kustomize may have to be built first.
  }, 900_000);

  test("has one pod of everything, with the image that is loaded onto the node", () => {
    const deployments = objects.filter(isWorkload).filter(({ kind }) => kind === "Deployment");
    expect(deployments).toHaveLength(functions.length + 2);
    for (const deployment of deployments) {
      expect(deployment.spec.replicas).toBe(1);
      expect(containerOf(deployment)).toMatchObject({ imagePullPolicy: "Never" });
    }
    expect(find<Workload>(objects, "StatefulSet", "nats").spec.replicas).toBe(1);
  });

  test("accepts webhooks at a port of the node", () => {
    expect(find(objects, "Service", "denrei-gateway")).toMatchObject({
      spec: { type: "NodePort", ports: [{ nodePort: 30080, targetPort: "webhooks" }] },
    });
  });
});

describe("production", () => {
  let objects: Manifest[];
  beforeAll(async () => {
    objects = await overlay("production");
  }, 900_000);

  test("has three NATS servers on different nodes, of which one may be evicted, and streams on all of them", () => {
    const nats = find<Workload>(objects, "StatefulSet", "nats");
    expect(nats).toMatchObject({ spec: { replicas: 3, podManagementPolicy: "Parallel" } });
    expect(find(objects, "PodDisruptionBudget", "nats")).toMatchObject({ spec: { maxUnavailable: 1 } });
    expect(nats.spec.template.spec).toMatchObject({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname" }],
        },
      },
      topologySpreadConstraints: [{ topologyKey: "topology.kubernetes.io/zone" }],
    });
    const settings = objects.find(({ metadata }) => metadata.name.startsWith("denrei-settings-"));
    expect(settings?.data).toMatchObject({ DENREI_STREAM_REPLICAS: "3" });
  });

  test("has a route to the name of each server", () => {
    const { data } = natsConfiguration(objects);
    const routes = [...(data?.["cluster.conf"] ?? "").matchAll(/tls:\/\/(\S+?):6222/g)].map(
      ([, host]) => host,
    );
    expect(routes).toEqual(["nats-0", "nats-1", "nats-2"].map((name) => `${name}.nats-headless`));
    expect(find(objects, "Service", "nats-headless")).toMatchObject({
      spec: { clusterIP: "None", publishNotReadyAddresses: true },
    });
  });

  test("has a configuration that the servers accept", async () => {
    const folder = await mkdtemp(join(tmpdir(), "test-overlays-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { cert, key } = createCertificateAuthority().peer({ user: "denrei-nats" }, ["nats"]);
    const files = Object.entries({ "tls.crt": cert, "tls.key": key, "ca.crt": cert });
    for (const [name, text] of files) await writeFile(join(folder, name), text);
    for (const [name, text] of Object.entries(natsConfiguration(objects).data ?? {}))
      await writeFile(join(folder, name), text.replaceAll(/\/etc\/nats(-peer)?-tls/g, folder));
    const { stderr } = await promisify(execFile)(server.path, ["-t", "--config", join(folder, "nats.conf")], {
      env: { ...process.env, POD_NAME: "nats-0" },
    });
    expect(stderr).toContain("is valid");
  });

  test("ends lame duck mode within the grace period of its pods", () => {
    const seconds = /lame_duck_duration: (\d+)s/.exec(
      natsConfiguration(objects).data?.["nats.conf"] ?? "",
    )?.[1];
    const { terminationGracePeriodSeconds } = find<Workload>(objects, "StatefulSet", "nats").spec.template
      .spec;
    expect(Number(seconds)).toBeLessThan(terminationGracePeriodSeconds);
  });
});

describe("every overlay, with every component,", () => {
  let renderings: Manifest[][];
  beforeAll(async () => {
    renderings = [
      await overlay("kind"),
      await siteWith("keda", "httproute"),
      await siteWith("hpa", "ingress"),
    ];
  }, 900_000);

  test("gives each process exactly the rights of the base", async () => {
    const rights = (objects: readonly Manifest[]) =>
      objects
        .filter(({ kind }) => /Role|ServiceAccount/.test(kind))
        .map((object) => JSON.stringify(object))
        .sort();
    const wanted = rights(await baseObjects());
    expect(wanted.length).toBeGreaterThan(3 * functions.length);
    for (const objects of renderings) expect(rights(objects)).toEqual(wanted);
  });

  test("allows the eviction of one pod of a workload at a time", () => {
    for (const objects of renderings) {
      const budgets = ofKind<Budget>(objects, "PodDisruptionBudget");
      for (const { metadata, spec } of objects.filter(isWorkload)) {
        if (metadata.name === "nats" && spec.replicas === 1) continue;
        const name = spec.template.metadata.labels["app.kubernetes.io/name"];
        const own = budgets.filter(
          ({ spec }) => spec.selector.matchLabels["app.kubernetes.io/name"] === name,
        );
        expect([name, own.map(({ spec }) => spec.maxUnavailable)]).toEqual([name, [1]]);
      }
    }
  });

  test("exposes only the paths of hooks, at the gateway's Service", () => {
    const [, route, ingress] = renderings;
    const service = { name: "denrei-gateway", port: { name: "webhooks" } };
    expect(find(ingress ?? [], "Ingress", "denrei-gateway")).toMatchObject({
      spec: { rules: [{ http: { paths: [{ path: webhookPath, backend: { service } }] } }] },
    });
    expect(find(route ?? [], "HTTPRoute", "denrei-gateway")).toMatchObject({
      spec: {
        rules: [
          {
            matches: [{ path: { type: "PathPrefix", value: webhookPath } }],
            backendRefs: [{ name: service.name, port: 80 }],
          },
        ],
      },
    });
    expect(find(route ?? [], "Service", service.name)).toMatchObject({
      spec: { ports: [{ name: "webhooks", port: 80 }] },
    });
  });
});

test("the example site in deploy/kubernetes/README.md works", async () => {
  const objects = await shownSite();
  for (const deployment of objects.filter(isWorkload).filter(({ kind }) => kind === "Deployment"))
    expect(containerOf(deployment).image).toBe(`registry.example.com/denrei:${manifest.version}`);
  const settings = objects.find(({ metadata }) => metadata.name.startsWith("denrei-settings-"));
  expect(settings?.data).toMatchObject({ DENREI_LOG_LEVEL: "warn", DENREI_STREAM_REPLICAS: "3" });
  expect(find(objects, "HTTPRoute", "denrei-gateway")).toMatchObject({
    spec: { hostnames: ["hooks.example.com"] },
  });
  expect(ofKind(objects, "ScaledObject")).toHaveLength(functions.length);
});

describe("components/hpa", () => {
  test("scales each function by its CPU requests", async () => {
    const objects = await siteWith("hpa");
    const scaled = ofKind<Manifest & { spec: { scaleTargetRef: { name: string } } }>(
      objects,
      "HorizontalPodAutoscaler",
    );
    expect(scaled.map(({ spec }) => spec.scaleTargetRef.name).sort()).toEqual(
      workersIn(objects)
        .map(({ metadata }) => metadata.name)
        .sort(),
    );
    for (const worker of workersIn(objects)) {
      expect(worker.spec.replicas).toBeUndefined();
      expect(containerOf(worker)).toMatchObject({ resources: { requests: { cpu: expect.any(String) } } });
    }
  });
});

describe("components/keda", () => {
  let objects: Manifest[];
  beforeAll(async () => {
    objects = await siteWith("keda");
  }, 900_000);

  test("scales each function from zero by every consumer that its workers serve", () => {
    const scaled = ofKind<ScaledObject>(objects, "ScaledObject");
    expect(scaled.map(({ spec }) => spec.scaleTargetRef.name).sort()).toEqual(
      workersIn(objects)
        .map(({ metadata }) => metadata.name)
        .sort(),
    );
    for (const subscription of subscriptionsOf(functions, "default")) {
      const { spec } = scaledObjectOf(objects, subscription.scope.fn);
      expect(spec.minReplicaCount).toBe(0);
      const consumers = functionConsumers(subscription, { replicas: 3, ackWaitMillis: 30_000 });
      expect(spec.triggers.map(({ metadata }) => [metadata.stream, metadata.consumer])).toEqual(
        consumers.map(([stream, { durable_name }]) => [stream, durable_name]),
      );
    }
  });

  test("lets KEDA set the number of workers", () => {
    for (const { metadata, spec } of workersIn(objects))
      expect([metadata.name, spec.replicas]).toEqual([metadata.name, undefined]);
    expect(find<Workload>(objects, "Deployment", "denrei-bridge").spec.replicas).toBe(2);
  });
});
