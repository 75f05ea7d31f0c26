/** Values of the Helm chart with their effects, and invalid values. */
import { expect } from "vitest";
import { functions } from "../../functions/index.ts";
import type { Values } from "./chart.ts";

const deployments = ["bridge", "gateway", ...functions.map(({ name }) => name)].map(
  (name) => `Deployment denrei-${name}`,
);
const statefulSet = "StatefulSet nats";
const pod = "spec.template.spec";
const container = `${pod}.containers.0`;
const of = (names: readonly string[], fields: Values): Values =>
  Object.fromEntries(
    names.flatMap((name) => Object.entries(fields).map(([path, value]) => [`${name}: ${path}`, value])),
  );
const digest = `sha256:${"0".repeat(64)}`;

/** Each value, with all fields that it changes from the defaults. */
export const chosen: readonly (readonly [values: Values, fields: Values])[] = [
  [
    { image: { repository: "registry.example.com/denrei", tag: "1.2.3" } },
    of(deployments, { [`${container}.image`]: "registry.example.com/denrei:1.2.3" }),
  ],
  [{ image: { digest } }, of(deployments, { [`${container}.image`]: `denrei@${digest}` })],
  [{ image: { pullPolicy: "Always" } }, of(deployments, { [`${container}.imagePullPolicy`]: "Always" })],
  [
    { image: { pullSecrets: [{ name: "registry" }] } },
    of([...deployments, statefulSet], { [`${pod}.imagePullSecrets.0.name`]: "registry" }),
  ],
  [
    { settings: { DENREI_LOG_LEVEL: "warn", OTEL_TRACES_SAMPLER_ARG: "0.5" } },
    of(["ConfigMap denrei-settings"], {
      "data.DENREI_LOG_LEVEL": "warn",
      "data.OTEL_TRACES_SAMPLER_ARG": "0.5",
    }),
  ],
  [
    { bridge: { replicas: 3, resources: { limits: { memory: "2Gi" } } } },
    of(["Deployment denrei-bridge"], {
      "spec.replicas": 3,
      [`${container}.resources.limits.memory`]: "2Gi",
    }),
  ],
  [
    { functions: { "pipecd-mongo": { replicas: 5, resources: { requests: { cpu: "1" } } } } },
    of(["Deployment denrei-pipecd-mongo"], {
      "spec.replicas": 5,
      [`${container}.resources.requests.cpu`]: "1",
    }),
  ],
  [
    { gateway: { replicas: 4, service: { type: "LoadBalancer" } } },
    { "Deployment denrei-gateway: spec.replicas": 4, "Service denrei-gateway: spec.type": "LoadBalancer" },
  ],
  [
    { nats: { storage: "50Gi", maxFileStore: "45GiB", storageClass: "fast" } },
    {
      ...of([statefulSet], {
        "spec.volumeClaimTemplates.0.spec.resources.requests.storage": "50Gi",
        "spec.volumeClaimTemplates.0.spec.storageClassName": "fast",
      }),
      "ConfigMap nats-config: data.nats.conf": expect.stringContaining("max_file_store: 45GiB\n"),
    },
  ],
  [
    { nats: { image: "mirror/nats:2", metricsImage: "mirror/exporter:1" } },
    of([statefulSet], {
      [`${container}.image`]: "mirror/nats:2",
      [`${pod}.containers.1.image`]: "mirror/exporter:1",
    }),
  ],
  [
    {
      networkPolicies: {
        apiServer: [
          { to: [{ ipBlock: { cidr: "203.0.113.1/32" } }], ports: [{ protocol: "TCP", port: 8443 }] },
        ],
        kedaNamespace: "scaling",
        monitoringNamespace: "on",
      },
    },
    {
      ...of(["NetworkPolicy denrei-api-server"], {
        "spec.egress.0.to.0.ipBlock.cidr": "203.0.113.1/32",
        ...Object.fromEntries([1, 2, 3, 4].map((at) => [`spec.egress.0.to.${at}.ipBlock.cidr`, undefined])),
        "spec.egress.0.ports.0.port": 8443,
        "spec.egress.0.ports.1.port": undefined,
        "spec.egress.0.ports.1.protocol": undefined,
      }),
      ...Object.fromEntries(
        [
          ["denrei-nats", "ingress.2", "scaling"],
          ["denrei-nats", "ingress.3", "on"],
          ["denrei-metrics", "ingress.0", "on"],
          ["denrei-metrics", "egress.0", "on"],
        ].map(([name, rule, value]) => [
          `NetworkPolicy ${name}: spec.${rule}.${rule?.startsWith("in") ? "from" : "to"}.0.namespaceSelector.matchLabels.kubernetes.io/metadata.name`,
          value,
        ]),
      ),
    },
  ],
  [
    { nodeSelector: { pool: "yes" }, tolerations: [{ key: "spot", operator: "Exists" }] },
    of([...deployments, statefulSet], {
      [`${pod}.nodeSelector.pool`]: "yes",
      [`${pod}.tolerations.0.key`]: "spot",
      [`${pod}.tolerations.0.operator`]: "Exists",
    }),
  ],
];

/** Each value that adds or removes objects, with these objects. */
export const decided: readonly (readonly [
  values: Values,
  come: readonly string[],
  gone: RegExp | undefined,
])[] = [
  [{ functions: { hikawa: { enabled: false } } }, [], / denrei-hikawa(-.*)?$/],
  [{ networkPolicies: { enabled: false } }, [], /^NetworkPolicy /],
  [{ nats: { servers: 1 } }, [], /^PodDisruptionBudget nats$/],
  [
    { nats: { external: { url: "tls://nats.example.com:4222" } } },
    [],
    / (nats(-config|-headless)?|denrei-nats)$/,
  ],
  [{ monitoring: { enabled: true } }, ["PodMonitor denrei", "PrometheusRule denrei"], undefined],
  [{ ingress: { enabled: true } }, ["Ingress denrei-gateway"], undefined],
  [{ httpRoute: { enabled: true } }, ["HTTPRoute denrei-gateway"], undefined],
];

/** Values that the schema rejects. */
export const refused: readonly Values[] = [
  { imgae: {} },
  { image: { tags: "1" } },
  { image: { digest: "sha256:1" } },
  { settings: { DENREI_LOG_LEVELS: "warn" } },
  { settings: { DENREI_CLUSTER: "other" } },
  { bridge: { replica: 2 } },
  { functions: { hikawas: { enabled: false } } },
  { functions: { hikawa: { enable: false } } },
  { nats: { servers: 2 } },
  { nats: { storage: "much" } },
  { nats: { external: { url: "nats://plain.example.com" } } },
  { autoscaling: "vpa" },
  { networkPolicies: { enabled: "yes" } },
  { networkPolicies: { apiServer: [{ ipBlock: { cidr: "203.0.113.1/32" } }] } },
  { networkPolicies: { apiServer: [{ to: [{ ipBlock: { cidr: "203.0.113.1/32" } }] }] } },
  { networkPolicies: { apiServer: [{ to: [], ports: [{ protocol: "TCP", port: 8443 }] }] } },
  { ingress: { hosts: [] } },
];
