/** What a site may choose: values.yaml and its schema, from one declaration. The defaults are what the manifests have. */
import { Document, isScalar, type Pair, visit } from "yaml";
import { z } from "zod";
import { processSettings, type SettingName, variableOf } from "../../bus/config/config.ts";
import { type DashboardDefaults, dashboardSchema } from "./dashboardvalues.ts";

/** What the manifests say where nobody has chosen. */
export interface Defaults {
  readonly image: string;
  /** Names of functions. */
  readonly functions: readonly string[];
  /** What a workload's Deployment has, by the workload's name in the values. */
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
  readonly host: string;
  readonly tlsSecret: string;
  readonly parentRefs: readonly object[];
  readonly dashboard: DashboardDefaults;
  readonly apiServer: readonly { readonly to: readonly object[]; readonly ports: readonly object[] }[];
}

/** Variables that the chart sets itself, from other values. */
const others = ["NATS_URL", "DENREI_CLUSTER", "DENREI_STREAM_REPLICAS"];
/** Those that are each pod's own: the manifests set them. */
const ofPods = /^(NATS_.*|DENREI_(REPLICA|HTTP_ADDRESS|WEBHOOK_(ADDRESS|SECRETS)))$/;
const settingNames: readonly SettingName[] = [
  ...processSettings,
  "namespaces",
  "watchSeconds",
  "webhookPath",
];
const variables = settingNames
  .map(variableOf)
  .filter((name): name is string => name !== undefined && !others.includes(name) && !ofPods.test(name));

/** Kubernetes' own words, which the API server checks. */
const object = z.record(z.string(), z.unknown());
const quantity = z.string().regex(/^\d+(\.\d+)?(Ki|Mi|Gi|Ti|k|M|G|T)?$/);
const text = z.string();
const replicas = z.int().min(0);

/** The schema of the values, with a description and a default for each. */
export function valuesSchema(defaults: Defaults) {
  const workload = (name: string) => {
    const own = defaults.workload(name);
    return {
      replicas: replicas.default(own.replicas).describe("How many pods."),
      resources: object.default({ ...own.resources }).describe("Of each pod."),
    };
  };
  const scaled = (name: string) =>
    z
      .strictObject({
        enabled: z.boolean().default(true).describe("Whether there are workers of it, and rights for them."),
        ...workload(name),
        minReplicas: replicas
          .nullable()
          .default(null)
          .describe("How few pods an autoscaler leaves: 0 with keda, 2 with hpa unless it is said here."),
        maxReplicas: z.int().min(1).default(10).describe("How many pods an autoscaler makes at most."),
      })
      .prefault({});
  const { nats } = defaults;
  return z.strictObject({
    image: z
      .strictObject({
        repository: text.min(1).default(defaults.image).describe("Where the image is."),
        tag: text.default("").describe("Its tag; empty: the appVersion of the chart."),
        digest: text
          .regex(/^(sha256:[0-9a-f]{64})?$/)
          .default("")
          .describe("Its digest (sha256:…), in the place of a tag."),
        pullPolicy: z
          .enum(["", "Always", "IfNotPresent", "Never"])
          .default("")
          .describe("Empty: Kubernetes' own default."),
        pullSecrets: z
          .array(z.strictObject({ name: text }))
          .default([])
          .describe("As [{name: …}], for all pods."),
      })
      .prefault({})
      .describe("The image of bridge, gateway, workers and dashboard."),
    settings: z
      .partialRecord(z.union([z.enum(variables), text.regex(/^(OTEL|NODE)_[A-Z_]+$/)]), text)
      .default({ ...defaults.settings })
      .describe(`Variables of all processes: ${variables.join(", ")}, OTEL_… and NODE_…`),
    bridge: z
      .strictObject(workload("bridge"))
      .prefault({})
      .describe("Brings changes from the API server to the bus."),
    gateway: z
      .strictObject({
        ...workload("gateway"),
        service: z
          .strictObject({
            type: z
              .enum(["ClusterIP", "NodePort", "LoadBalancer"])
              .default("ClusterIP")
              .describe("Of the Service."),
            nodePort: z
              .int()
              .nullable()
              .default(null)
              .describe("A port of each node, where the type has one."),
          })
          .prefault({})
          .describe("What leads to it."),
      })
      .prefault({})
      .describe("Takes webhooks."),
    dashboard: dashboardSchema(defaults.dashboard, workload("dashboard")),
    functions: z
      .strictObject(Object.fromEntries(defaults.functions.map((name) => [name, scaled(name)])))
      .prefault({})
      .describe("The workers of each function."),
    chartModules: z
      .strictObject({
        image: text
          .default("")
          .describe(
            "An image with cp and the modules in its folder /modules; empty: the site has no modules.",
          ),
      })
      .prefault({})
      .describe("What charts of the PaaS may import: docs/paas.md."),
    nats: z
      .strictObject({
        servers: z
          .union([z.literal(1), z.literal(3)])
          .default(nats.servers as 1 | 3)
          .describe(
            "1, or 3 of which one may fail. From 1 to 3 is a move, or streams are lost: deploy/kubernetes.",
          ),
        image: text.min(1).default(nats.image).describe("Of the servers."),
        metricsImage: text
          .min(1)
          .default(nats.metricsImage)
          .describe("Of the exporter beside each of three servers."),
        storage: quantity
          .default(nats.storage)
          .describe("The volume of each server. Can not be changed later."),
        maxFileStore: quantity
          .or(text.regex(/^\d+(KiB|MiB|GiB|TiB)$/))
          .default(nats.maxFileStore)
          .describe("What streams may take of it, in NATS' units: less than the volume has."),
        storageClass: text.default("").describe("Of the volumes; empty: the cluster's default."),
        resources: object.default({ ...nats.resources }).describe("Of each server."),
        external: z
          .strictObject({
            url: text
              .regex(/^(tls:\/\/.+)?$/)
              .default("")
              .describe("tls://host:port of servers elsewhere: there are none in the chart then."),
            streamReplicas: z
              .int()
              .min(1)
              .max(5)
              .default(3)
              .describe("How many of those servers have each stream."),
            monitor: text.default("").describe("host:port of their monitoring, for keda."),
            egress: z
              .array(object)
              .default([{ ports: [{ protocol: "TCP", port: 4222 }] }])
              .describe("Egress rules of a NetworkPolicy that lead there."),
          })
          .prefault({})
          .describe("A NATS of the site's own; `denrei users` prints the users it has to know."),
      })
      .prefault({})
      .describe("The bus."),
    autoscaling: z
      .enum(["none", "keda", "hpa"])
      .default("none")
      .describe("keda: by what waits for a function, from no worker on. hpa: by the CPU of its workers."),
    networkPolicies: z
      .strictObject({
        enabled: z.boolean().default(true).describe("Nobody speaks to anybody, but for what is needed."),
        apiServer: z
          // A rule without one of them would lead everywhere, or to every port.
          .array(z.strictObject({ to: z.array(object).min(1), ports: z.array(object).min(1) }))
          .default(
            defaults.apiServer.map(({ to, ports }) => ({
              to: to.map((peer) => ({ ...peer })),
              ports: ports.map((port) => ({ ...port })),
            })),
          )
          .describe(
            "Where the API server is, as egress rules of a NetworkPolicy: by default anything private, pods and nodes too, at 443 and 6443.",
          ),
        kedaNamespace: text.default("keda").describe("Where KEDA is."),
        monitoringNamespace: text
          .default("monitoring")
          .describe("Where Prometheus is, and what takes traces."),
      })
      .prefault({})
      .describe("For networks that enforce policies."),
    ingress: z
      .strictObject({
        enabled: z.boolean().default(false).describe("Whether there is an Ingress."),
        className: text.default("").describe("Empty: the cluster's default."),
        host: text.min(1).default(defaults.host).describe("The host name that GitHub sends webhooks to."),
        tlsSecret: text
          .default(defaults.tlsSecret)
          .describe("The Secret with its certificate; empty: no TLS."),
        annotations: z.record(text, text).default({}).describe("Whatever the controller needs."),
      })
      .prefault({})
      .describe("Webhooks by way of an Ingress controller."),
    httpRoute: z
      .strictObject({
        enabled: z.boolean().default(false).describe("Whether there is an HTTPRoute."),
        hosts: z
          .array(text)
          .default([defaults.host])
          .describe("The host names that GitHub sends webhooks to."),
        parentRefs: z
          .array(object)
          .default(defaults.parentRefs.map((ref) => ({ ...ref })))
          .describe("The Gateways."),
      })
      .prefault({})
      .describe("Webhooks by way of the Gateway API."),
    monitoring: z
      .strictObject({
        enabled: z
          .boolean()
          .default(false)
          .describe("A PodMonitor and a PrometheusRule, for Prometheus' operator."),
      })
      .prefault({})
      .describe("Metrics and alerts."),
    nodeSelector: z.record(text, text).default({}).describe("Labels of the nodes for all pods."),
    tolerations: z.array(object).default([]).describe("Of all pods."),
  });
}

type Schema = ReturnType<typeof valuesSchema>;

/** values.schema.json, which Helm itself checks values by. */
export const schemaText = (schema: Schema): string =>
  `${JSON.stringify(z.toJSONSchema(schema, { target: "draft-7", io: "input" }), null, 2)}\n`;

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
}

/** values.yaml: every value with its default, and what it is for. */
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
