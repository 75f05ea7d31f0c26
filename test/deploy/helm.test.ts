/** The Helm chart renders to the objects of the kustomizations, with changes by values. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { consumersOf } from "../../bus/permissions.ts";
import { subscriptionsOf } from "../../bus/worker/function.ts";
import { separateLayout } from "../../deploy/generate/layout.ts";
import { authorizationFile } from "../../deploy/generate/manifestfiles.ts";
import { operatorManifests } from "../../deploy/generate/monitoring/rules.ts";
import { identity } from "../../deploy/helm/sources.ts";
import { functions } from "../../functions/index.ts";
import { type Chart, comparable, kubeVersion, openChart, type Values } from "./chart.ts";
import { addedAndRemoved, changedFields } from "./chartdiff.ts";
import { chosen, decided, refused } from "./chartvalues.ts";
import { find, isWorkload, type Manifest } from "./manifests.ts";
import { overlay, siteWith } from "./overlays.ts";
import { scaledObjectOf } from "./triggers.ts";

let chart: Chart;
beforeAll(async () => {
  chart = await openChart();
  // Without kubectl, kustomize may have to be built first.
}, 900_000);
afterAll(() => chart?.remove());

const ofEachFunction = (values: Values): Values =>
  Object.fromEntries(functions.map(({ name }) => [name, values]));

const small = { replicas: 1, resources: { requests: { cpu: "10m", memory: "128Mi" } } };
/** Values for the differences between overlays/kind and the base. */
const kind: Values = {
  image: { pullPolicy: "Never" },
  bridge: small,
  gateway: { ...small, service: { type: "NodePort", nodePort: 30080 } },
  functions: ofEachFunction(small),
  nats: { servers: 1, resources: { requests: { cpu: "10m", memory: "64Mi" } } },
  networkPolicies: { enabled: false },
};

const same: readonly (readonly [string, Values, () => Promise<Manifest[]>])[] = [
  ["overlays/production by default", {}, () => overlay("production")],
  ["overlays/kind", kind, () => overlay("kind")],
  [
    "components keda and httproute",
    { autoscaling: "keda", httpRoute: { enabled: true } },
    () => siteWith("keda", "httproute"),
  ],
  [
    "components hpa and ingress",
    { autoscaling: "hpa", ingress: { enabled: true }, chartModules: { image: "chart-modules" } },
    () => siteWith("hpa", "ingress", "chart-modules"),
  ],
];

describe("renders to the objects of", () => {
  test.for(same)("%s", async ([, values, kustomization]) => {
    expect(comparable(await chart.template(values))).toEqual(comparable(await kustomization()));
  });
});

test("helm lint reports no problem", async () => {
  const { code, output } = await chart.helm(["lint", "--strict", chart.folder]);
  expect([code, output]).toEqual([0, expect.stringContaining("0 chart(s) failed")]);
});

test("it accepts Kubernetes 1.30 and later of any distribution, and rejects older versions", async () => {
  const on = (version: string) =>
    chart.helm(["template", "denrei", chart.folder, "--kube-version", version]).then(({ code }) => code);
  expect(await Promise.all(["v1.29.14", "v1.30.0", "v1.30.1-gke.100", "v1.36.3"].map(on))).toEqual([
    1, 0, 0, 0,
  ]);
});

const text = (values: Values) => JSON.stringify(values);

describe("by values", () => {
  let usual: Manifest[];
  beforeAll(async () => {
    usual = await chart.template();
  });

  test.for(chosen.map(([values, fields]) => ({ name: text(values), values, fields })))(
    "$name changes only its own fields",
    async ({ values, fields }) => {
      const after = await chart.template(values);
      expect(changedFields(comparable(usual), comparable(after))).toEqual(fields);
    },
  );

  test.for(decided.map(([values, come, gone]) => ({ name: text(values), values, come, gone })))(
    "$name adds or removes objects",
    async ({ values, come, gone }) => {
      const wanted = usual.map(identity).filter((name) => gone?.test(name));
      expect(wanted.length > 0).toBe(gone !== undefined);
      expect(addedAndRemoved(usual, await chart.template(values))).toEqual({ come, gone: wanted.sort() });
    },
  );

  test("disabled components have no workers and no CRDs, and the bridge has no rights on their kinds", async () => {
    const off = { enabled: false };
    const objects = await chart.template({ components: { paas: off, pipecd: off }, autoscaling: "keda" });
    const settings = find(objects, "ConfigMap", "denrei-settings").data;
    expect(settings).toMatchObject({ DENREI_COMPONENTS: "zundoko,ghapp" });
    expect(find(usual, "ConfigMap", "denrei-settings").data).not.toHaveProperty("DENREI_COMPONENTS");
    // Users of the bus are those of all functions, and policies may select pods that do not exist.
    const rest = objects.filter(
      ({ kind, metadata }) => kind !== "NetworkPolicy" && metadata.name !== "nats-config",
    );
    expect(JSON.stringify(rest).match(/[\w-]*(modoki|pipecd|kpack|deployments)[\w-]*/g)).toBe(null);
    const bridge = JSON.stringify(find(objects, "ClusterRole", "denrei-bridge"));
    expect(bridge).toContain("hikawas");
    expect(bridge).toContain("namespaces");
    const none = await chart.template({
      components: Object.fromEntries(["zundoko", "ghapp", "paas", "pipecd"].map((name) => [name, off])),
    });
    expect(find(none, "ConfigMap", "denrei-settings").data).toMatchObject({ DENREI_COMPONENTS: "none" });
  });

  test("an external NATS changes the settings, the policies, and KEDA's endpoint", async () => {
    const external = { url: "tls://nats.example.com:4222", streamReplicas: 5 };
    const keda = {
      autoscaling: "keda",
      nats: { external: { ...external, monitor: "nats.example.com:8222" } },
    };
    const objects = await chart.template(keda);
    expect(find(objects, "ConfigMap", "denrei-settings").data).toMatchObject({
      NATS_URL: external.url,
      DENREI_STREAM_REPLICAS: "5",
    });
    expect(find(objects, "NetworkPolicy", "denrei-bus")).toMatchObject({
      spec: { egress: [{ ports: [{ protocol: "TCP", port: 4222 }] }] },
    });
    expect(find(objects, "ConfigMap", "denrei-bus-monitor").data).toEqual({
      endpoint: "nats.example.com:8222",
    });
    await expect(chart.template({ ...keda, nats: { external } })).rejects.toThrow(/nats\.external\.monitor/);
  });

  test("autoscalers have the chosen minimum and maximum of workers", async () => {
    const functions = { hikawa: { minReplicas: 3, maxReplicas: 7 } };
    expect(
      find(await chart.template({ functions, autoscaling: "keda" }), "ScaledObject", "denrei-hikawa"),
    ).toMatchObject({ spec: { minReplicaCount: 3, maxReplicaCount: 7 } });
    expect(
      find(
        await chart.template({ functions, autoscaling: "hpa" }),
        "HorizontalPodAutoscaler",
        "denrei-hikawa",
      ),
    ).toMatchObject({ spec: { minReplicas: 3, maxReplicas: 7 } });
  });

  test("charts get the modules of the chosen image, with the common pull policy", async () => {
    const chartModules = { image: "registry.example.com/modules:1" };
    const objects = await chart.template({ chartModules, image: { pullPolicy: "Always" } });
    expect(find(objects, "Deployment", "denrei-modoki-application")).toMatchObject({
      spec: {
        template: {
          spec: { initContainers: [{ image: chartModules.image, imagePullPolicy: "Always" }] },
        },
      },
    });
    const other = find(objects, "Deployment", "denrei-modoki-remotesync");
    expect(other).not.toHaveProperty("spec.template.spec.initContainers");
  });

  test("webhooks use the chosen host and path", async () => {
    const objects = await chart.template({
      settings: { DENREI_WEBHOOK_PATH: "/hooks" },
      ingress: {
        enabled: true,
        className: "public",
        host: "*.example.org",
        tlsSecret: "",
        annotations: { a: "1" },
      },
      httpRoute: { enabled: true, hosts: ["*.example.org"], parentRefs: [{ name: "gate" }] },
    });
    const ingress = find(objects, "Ingress", "denrei-gateway");
    expect(ingress).toMatchObject({
      metadata: { annotations: { a: "1" } },
      spec: {
        ingressClassName: "public",
        rules: [{ host: "*.example.org", http: { paths: [{ path: "/hooks" }] } }],
      },
    });
    expect(ingress).not.toHaveProperty("spec.tls");
    expect(find(objects, "HTTPRoute", "denrei-gateway")).toMatchObject({
      spec: {
        hostnames: ["*.example.org"],
        parentRefs: [{ name: "gate" }],
        rules: [{ matches: [{ path: { value: "/hooks" } }] }],
      },
    });
  });

  test("pods are replaced only when their settings change", async () => {
    const checksums = async (values: Values) =>
      (await chart.template(values))
        .filter(isWorkload)
        .map(
          ({ metadata, spec }) =>
            [metadata.name, spec.template.metadata.annotations?.["checksum/settings"]] as const,
        );
    const before = new Map(await checksums({}));
    const replaced = async (values: Values) =>
      (await checksums(values)).filter(([name, sum]) => before.get(name) !== sum).map(([name]) => name);
    expect(await replaced({ bridge: { replicas: 5 } })).toEqual([]);
    expect(await replaced({ nats: { maxFileStore: "1GiB" } })).toEqual(["nats"]);
    expect((await replaced({ settings: { DENREI_LOG_LEVEL: "debug" } })).length).toBe(functions.length + 2);
  });
});

test.for(refused.map((values) => ({ name: text(values), values })))(
  "the schema rejects $name",
  async ({ values }) => {
    await expect(chart.template(values)).rejects.toThrow(
      /values don't meet the specifications of the schema/,
    );
  },
);

test("every namespaced object is in the namespace of the release", async () => {
  const everything = { autoscaling: "keda", ingress: { enabled: true }, monitoring: { enabled: true } };
  const { output } = await chart.helm(
    ["template", "denrei", chart.folder, "--namespace", "elsewhere", ...kubeVersion],
    everything,
  );
  const namespaces = [...output.matchAll(/namespace: "?([\w-]+)"?$/gm)].map(([, name]) => name);
  expect(new Set(namespaces)).toEqual(new Set(["elsewhere"]));
  expect(output).toContain("nats-headless.elsewhere.svc:8222");
});

test("a chart for another cluster differs only in its name, users, and KEDA triggers", async () => {
  const other = await openChart({ cluster: "blue" });
  onTestFinished(() => other.remove());
  const [before, after] = await Promise.all(
    [chart, other].map((one) => one.template({ autoscaling: "keda" })),
  );
  const changed = changedFields(comparable(before ?? []), comparable(after ?? []));
  const consumers = /^ScaledObject .*: spec\.triggers\.\d+\.metadata\.consumer$/;
  const others = Object.keys(changed).filter((path) => !consumers.test(path));
  expect(others.sort()).toEqual([
    "ConfigMap denrei-settings: data.DENREI_CLUSTER",
    "ConfigMap nats-config: data.authorization.conf",
  ]);
  expect(changed["ConfigMap denrei-settings: data.DENREI_CLUSTER"]).toBe("blue");
  const users = changed["ConfigMap nats-config: data.authorization.conf"];
  expect(users).toBe(authorizationFile(separateLayout(functions), { cluster: "blue" }));
  for (const subscription of subscriptionsOf(functions, "blue")) {
    const { spec } = scaledObjectOf(after ?? [], subscription.scope.fn);
    expect(spec.triggers.map(({ metadata }) => [metadata.stream, metadata.consumer])).toEqual(
      consumersOf(subscription),
    );
  }
});

test("template syntax in alerts is preserved", async () => {
  const objects = await chart.template({ monitoring: { enabled: true } });
  const wanted = operatorManifests("denrei") as unknown as Manifest[];
  for (const { kind, metadata } of wanted)
    expect(find(objects, kind, metadata.name)).toEqual(find(wanted, kind, metadata.name));
});
