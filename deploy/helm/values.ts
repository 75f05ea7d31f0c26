/** values.yaml and values.schema.json, from one declaration. The defaults come from the manifests. */
import { processSettings, type SettingName, variableOf } from "denrei/runtime";
import { Document, isScalar, type Pair, visit } from "yaml";
import { z } from "zod";
import { admissionSchema } from "./admission.ts";
import { type DashboardDefaults, dashboardSchema } from "./dashboardvalues.ts";

/** The defaults, read from the manifests. */
export interface Defaults {
  readonly image: string;
  /** Names of the processes besides workers and dashboard. */
  readonly processes: readonly string[];
  /** Names of the project's components. */
  readonly components: readonly string[];
  /** Names of functions and groups with their own workers. */
  readonly functions: readonly string[];
  /** Whether a kind has admission hooks. */
  readonly hasHooks: boolean;
  /** Whether a function renders charts, which may import modules. */
  readonly chartModules: boolean;
  /** Replicas and resources of a workload's Deployment, by the workload's name in the values. */
  workload(name: string): { readonly replicas: number; readonly resources: object };
  readonly settings: Readonly<Record<string, string>>;
  readonly nats: {
    readonly servers: number;
    readonly image: string;
    readonly metricsImage: string;
    readonly storage: string;
    readonly maxFileStore: string;
    readonly resources: object;
  };
  /** Routes to the gateway; undefined without a gateway. */
  readonly routes:
    | {
        readonly host: string;
        readonly tlsSecret: string;
        readonly parentRefs: readonly object[];
      }
    | undefined;
  readonly dashboard: DashboardDefaults;
  readonly apiServer: readonly { readonly to: readonly object[]; readonly ports: readonly object[] }[];
}

/** Variables that the chart sets from other values. */
const reservedVariables = ["NATS_URL", "DENREI_CLUSTER", "DENREI_STREAM_REPLICAS"];
/** Variables that the manifests set for each pod. */
const podVariables = /^(NATS_.*|DENREI_(REPLICA|HTTP_ADDRESS|WEBHOOK_(ADDRESS|SECRETS)))$/;
const settingNames: readonly SettingName[] = [
  ...processSettings,
  "namespaces",
  "watchSeconds",
  "webhookPath",
];
const variables = settingNames
  .map(variableOf)
  .filter(
    (name): name is string =>
      name !== undefined && !reservedVariables.includes(name) && !podVariables.test(name),
  );

/** Fields of the Kubernetes API, which the API server validates. */
const object = z.record(z.string(), z.unknown());
const quantity = z.string().regex(/^\d+(\.\d+)?(Ki|Mi|Gi|Ti|k|M|G|T)?$/);
const text = z.string();
const replicas = z.int().min(0);

/** The schema of the values, with a description and a default for each. */
export function valuesSchema(defaults: Defaults) {
  const workload = (name: string) => workloadValues(defaults.workload(name));
  return z.strictObject({
    image: imageValues(defaults.image),
    settings: z
      .partialRecord(z.union([z.enum(variables), text.regex(/^(OTEL|NODE)_[A-Z_]+$/)]), text)
      .default({ ...defaults.settings })
      .describe(`Environment variables of all processes: ${variables.join(", ")}, OTEL_… and NODE_…`),
    crds: z
      .strictObject({
        enabled: z
          .boolean()
          .default(true)
          .describe(
            "Install and upgrade the CRDs. Set it to false for a rollback: an older schema would drop the newer fields of objects.",
          ),
      })
      .prefault({})
      .describe("The CRDs. Helm never deletes them."),
    bridge: z
      .strictObject(workload("bridge"))
      .prefault({})
      .describe("The bridge: publishes changes from the API server on the bus."),
    ...(defaults.processes.includes("gateway") && { gateway: gatewayValues(workload("gateway")) }),
    ...(defaults.processes.includes("admission") && {
      admission: admissionSchema(workload("admission"), defaults.hasHooks),
    }),
    dashboard: dashboardSchema(defaults.dashboard, workload("dashboard")),
    ...(defaults.components.length > 0 && { components: componentsValues(defaults.components) }),
    functions: z
      .strictObject(
        Object.fromEntries(defaults.functions.map((name) => [name, functionValues(workload(name))])),
      )
      .prefault({})
      .describe("The workers of each function or group."),
    ...(defaults.chartModules && { chartModules: chartModulesValues() }),
    nats: natsValues(defaults.nats),
    autoscaling: z
      .enum(["none", "keda", "hpa"])
      .default("none")
      .describe(
        "How workers scale. keda: by the backlog of their function, down to zero. hpa: by their CPU usage.",
      ),
    networkPolicies: networkPoliciesValues(defaults.apiServer),
    ...(defaults.routes && {
      ingress: ingressValues(defaults.routes),
      httpRoute: httpRouteValues(defaults.routes),
    }),
    monitoring: z
      .strictObject({
        enabled: z
          .boolean()
          .default(false)
          .describe("Create a PodMonitor and a PrometheusRule for the Prometheus Operator."),
      })
      .prefault({})
      .describe("Metrics and alerts."),
    nodeSelector: z.record(text, text).default({}).describe("Node labels that all pods require."),
    tolerations: z.array(object).default([]).describe("Tolerations of all pods."),
  });
}

const workloadValues = ({ replicas: count, resources }: ReturnType<Defaults["workload"]>) => ({
  replicas: replicas.default(count).describe("Number of pods."),
  resources: object.default({ ...resources }).describe("Requests and limits of each pod."),
});
type WorkloadValues = ReturnType<typeof workloadValues>;

const functionValues = (workload: WorkloadValues) =>
  z
    .strictObject({
      enabled: z.boolean().default(true).describe("Deploy the workers of this function and their RBAC."),
      ...workload,
      minReplicas: replicas
        .nullable()
        .default(null)
        .describe("Minimum number of pods with autoscaling. Default: 0 with keda, 2 with hpa."),
      maxReplicas: z.int().min(1).default(10).describe("Maximum number of pods with autoscaling."),
    })
    .prefault({});

const componentsValues = (names: readonly string[]) =>
  z
    .strictObject(
      Object.fromEntries(
        names.map((name) => [name, z.strictObject({ enabled: z.boolean().default(true) }).prefault({})]),
      ),
    )
    .prefault({})
    .describe(
      "Components of the project. A disabled one has no workers, and the bridge neither watches nor may read its kinds.",
    );

const imageValues = (repository: string) =>
  z
    .strictObject({
      repository: text.min(1).default(repository).describe("Registry and name of the image."),
      tag: text.default("").describe("Tag. If empty, the appVersion of the chart."),
      digest: text
        .regex(/^(sha256:[0-9a-f]{64})?$/)
        .default("")
        .describe("Digest (sha256:…). If set, the tag is ignored."),
      pullPolicy: z
        .enum(["", "Always", "IfNotPresent", "Never"])
        .default("")
        .describe("Pull policy. If empty, the default of Kubernetes."),
      pullSecrets: z
        .array(z.strictObject({ name: text }))
        .default([])
        .describe("Image pull secrets of all pods, as [{name: …}]."),
    })
    .prefault({})
    .describe("The image of bridge, gateway, workers, and dashboard.");

const gatewayValues = (workload: WorkloadValues) =>
  z
    .strictObject({
      ...workload,
      service: z
        .strictObject({
          type: z
            .enum(["ClusterIP", "NodePort", "LoadBalancer"])
            .default("ClusterIP")
            .describe("Type of the Service."),
          nodePort: z
            .int()
            .nullable()
            .default(null)
            .describe("Node port, for the types NodePort and LoadBalancer."),
        })
        .prefault({})
        .describe("The Service of the gateway."),
    })
    .prefault({})
    .describe("The gateway: receives webhooks.");

const chartModulesValues = () =>
  z
    .strictObject({
      image: text
        .default("")
        .describe(
          "Image that contains cp and, in /modules, the modules. If empty, charts have no extra modules.",
        ),
    })
    .prefault({})
    .describe("Modules that PaaS charts may import: docs/paas.md.");

const natsValues = (nats: Defaults["nats"]) =>
  z
    .strictObject({
      servers: z
        .union([z.literal(1), z.literal(3)])
        .default(nats.servers as 1 | 3)
        .describe(
          "Number of servers: 1, or 3 of which one may fail. Going from 1 to 3 loses streams unless you follow the procedure in deploy/kubernetes/README.md.",
        ),
      image: text.min(1).default(nats.image).describe("Image of the servers."),
      metricsImage: text
        .min(1)
        .default(nats.metricsImage)
        .describe("Image of the metrics exporter that runs next to each of three servers."),
      storage: quantity
        .default(nats.storage)
        .describe("Volume size of each server. Cannot be changed after the installation."),
      maxFileStore: quantity
        .or(text.regex(/^\d+(KiB|MiB|GiB|TiB)$/))
        .default(nats.maxFileStore)
        .describe("Space on the volume for streams, in NATS units. Must be smaller than the volume."),
      storageClass: text
        .default("")
        .describe("Storage class of the volumes. If empty, the default of the cluster."),
      resources: object.default({ ...nats.resources }).describe("Requests and limits of each server."),
      external: externalNatsValues(),
    })
    .prefault({})
    .describe("The bus.");

const externalNatsValues = () =>
  z
    .strictObject({
      url: text
        .regex(/^(tls:\/\/.+)?$/)
        .default("")
        .describe("tls://host:port of existing servers. If set, the chart deploys no NATS."),
      streamReplicas: z.int().min(1).max(5).default(3).describe("Replicas of each stream on those servers."),
      monitor: text.default("").describe("host:port of their monitoring endpoint, for keda."),
      egress: z
        .array(object)
        .default([{ ports: [{ protocol: "TCP", port: 4222 }] }])
        .describe("NetworkPolicy egress rules that allow traffic to those servers."),
    })
    .prefault({})
    .describe("An existing NATS. `denrei users` prints the users that it needs.");

const networkPoliciesValues = (apiServer: Defaults["apiServer"]) =>
  z
    .strictObject({
      enabled: z.boolean().default(true).describe("Deny all traffic except what the platform needs."),
      apiServer: z
        // A rule without `to` would lead everywhere, one without `ports` to every port.
        .array(z.strictObject({ to: z.array(object).min(1), ports: z.array(object).min(1) }))
        .default(
          apiServer.map(({ to, ports }) => ({
            to: to.map((peer) => ({ ...peer })),
            ports: ports.map((port) => ({ ...port })),
          })),
        )
        .describe(
          "NetworkPolicy egress rules to the API server. Default: all private addresses, including pods and nodes, at ports 443 and 6443.",
        ),
      kedaNamespace: text.default("keda").describe("Namespace of KEDA."),
      monitoringNamespace: text
        .default("monitoring")
        .describe("Namespace of Prometheus and of the trace collector."),
    })
    .prefault({})
    .describe("NetworkPolicies. They need a network plugin that enforces them.");

type Routes = NonNullable<Defaults["routes"]>;

const ingressValues = (defaults: Routes) =>
  z
    .strictObject({
      enabled: z.boolean().default(false).describe("Create an Ingress."),
      className: text.default("").describe("Ingress class. If empty, the default of the cluster."),
      host: text.min(1).default(defaults.host).describe("Host name that receives webhooks."),
      tlsSecret: text
        .default(defaults.tlsSecret)
        .describe("Secret with the certificate of the host. If empty, no TLS."),
      annotations: z
        .record(text, text)
        .default({})
        .describe("Annotations that the Ingress controller needs."),
    })
    .prefault({})
    .describe("Routes webhooks to the gateway through an Ingress controller.");

const httpRouteValues = (defaults: Routes) =>
  z
    .strictObject({
      enabled: z.boolean().default(false).describe("Create an HTTPRoute."),
      hosts: z.array(text).default([defaults.host]).describe("Host names that receive webhooks."),
      parentRefs: z
        .array(object)
        .default(defaults.parentRefs.map((ref) => ({ ...ref })))
        .describe("Gateways to attach the route to."),
    })
    .prefault({})
    .describe("Routes webhooks to the gateway through the Gateway API.");

type Schema = ReturnType<typeof valuesSchema>;

/** values.schema.json, against which Helm validates values. */
export const schemaText = (schema: Schema): string =>
  `${JSON.stringify(z.toJSONSchema(schema, { target: "draft-7", io: "input" }), null, 2)}\n`;

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
}

/** values.yaml: every value with its default and its description. */
export function valuesText(schema: Schema): string {
  const document = new Document(schema.parse({}));
  const described = z.toJSONSchema(schema, { io: "input" }) as Described;
  visit(document, {
    Pair(_, pair, path) {
      const keys = [...path, pair]
        .filter((node): node is Pair => "key" in (node ?? {}))
        .map(({ key }) => (isScalar(key) ? String(key.value) : String(key)));
      const found = keys.reduce<Described | undefined>((at, key) => at?.properties?.[key], described);
      if (found?.description !== undefined && isScalar(pair.key))
        pair.key.commentBefore = ` ${found.description}`;
    },
  });
  return document.toString({ lineWidth: 0 });
}
