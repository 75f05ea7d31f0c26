/** What runs in a cluster: bridge, gateway, dashboard, and one Deployment per function, which differ in little but their names. */
import type { ReconcileFunction } from "../../bus/worker/function.ts";
import { secretOf } from "./certificates.ts";
import { bridgeName, gatewayName, labelsOf, workloadName } from "./rbac.ts";

type Manifest = Record<string, unknown>;

/** Name of the image; the kustomization says where it comes from and which version it is. */
export const imageName = "denrei";

/** The ConfigMap with the settings that all processes share: the address of the bus, above all. */
export const settingsName = "denrei-settings";

/** The Secret with a file of secrets for each webhook. It is made by whoever has told GitHub of them. */
export const webhookSecretsName = "denrei-webhook-secrets";

/** The user in the image. */
const userId = 65532;

/** Probes and metrics. */
export const httpPort = 8080;
/** What comes from GitHub. */
export const webhooksPort = 8081;
/** What comes from browsers. */
export const dashboardPort = 8082;

/** Where a process finds the certificate that tells the bus who it is. */
const certificateFolder = "/etc/denrei/bus";
const webhookSecretsFolder = "/etc/denrei/webhooks";

/** How many pods there are until somebody who has measured says otherwise. */
const replicas = 2;

/** A pod that ends goes on for so long: load balancers send to it until they have heard of it. */
export const goodbyeSeconds = 5;

/**
 * What one pod takes while it works, measured on the local platform (deploy/kubernetes/README.md has the figures): the
 * scheduler's idea of a pod, and what the CPU of an autoscaler is a part of.
 */
const requests = {
  bridge: { cpu: "75m", memory: "256Mi" },
  gateway: { cpu: "50m", memory: "128Mi" },
  dashboard: { cpu: "50m", memory: "128Mi" },
  worker: { cpu: "100m", memory: "256Mi" },
} as const;

/** What runs, as far as workloads differ. */
export interface Workload {
  readonly name: string;
  readonly namespace: string;
  readonly component: "bridge" | "gateway" | "dashboard" | "worker";
  readonly args: readonly string[];
  /** What it may take, in MiB. */
  readonly memory: number;
  /** What not all pods have. */
  readonly own?: {
    readonly envFrom?: readonly object[];
    readonly env: readonly object[];
    readonly ports: readonly object[];
    readonly volumeMounts: readonly object[];
    readonly volumes: readonly object[];
    readonly lifecycle: object;
  };
}

/** The Deployment of a function's workers; any number of replicas share its work. */
export const functionManifests = (
  fn: Pick<ReconcileFunction, "name" | "memoryMebibytes">,
  namespace: string,
): Manifest[] => [
  deployment({
    name: workloadName(fn),
    namespace,
    component: "worker",
    args: ["worker", fn.name],
    memory: fn.memoryMebibytes,
  }),
  disruptionBudget(workloadName(fn), namespace),
];

/** The Deployment of the bridge: one pod leads each kind, the others stand by; a drain leaves one of them. */
export const bridgeManifests = (namespace: string): Manifest[] => [
  deployment({ name: bridgeName, namespace, component: "bridge", args: ["bridge"], memory: 512 }),
  disruptionBudget(bridgeName, namespace),
];

/** The gateway: any pod takes any webhook. What brings them from outside to its Service is the site's business. */
export const gatewayManifests = (namespace: string): Manifest[] => [
  deployment({
    name: gatewayName,
    namespace,
    component: "gateway",
    args: ["gateway"],
    memory: 512,
    own: {
      env: [
        { name: "DENREI_WEBHOOK_ADDRESS", value: `0.0.0.0:${webhooksPort}` },
        { name: "DENREI_WEBHOOK_SECRETS", value: webhookSecretsFolder },
      ],
      ports: [{ name: "webhooks", containerPort: webhooksPort }],
      volumeMounts: [{ name: "webhooks", mountPath: webhookSecretsFolder, readOnly: true }],
      volumes: [{ name: "webhooks", secret: { secretName: webhookSecretsName, defaultMode: 0o440 } }],
      lifecycle: { preStop: { sleep: { seconds: goodbyeSeconds } } },
    },
  }),
  disruptionBudget(gatewayName, namespace),
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: gatewayName, namespace, labels: labelsOf(gatewayName) },
    spec: {
      selector: selectorOf(gatewayName),
      ports: [{ name: "webhooks", port: 80, targetPort: "webhooks", appProtocol: "http" }],
    },
  },
];

/** Labels that a workload's pods are known by. */
export const selectorOf = (name: string) => ({ "app.kubernetes.io/name": name });

/** The component is for those who mean all workers. */
const workloadLabels = ({ name, component }: Pick<Workload, "name" | "component">) => ({
  ...labelsOf(name),
  "app.kubernetes.io/component": component,
});

/** Lets one pod of a workload go at a time. */
export const disruptionBudget = (name: string, namespace: string): Manifest => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name, namespace, labels: labelsOf(name) },
  // Good for any number of pods: a single one may go as well, and nothing is lost by it.
  spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(name) } },
});

/** The Deployment of a workload. */
export const deployment = (workload: Workload): Manifest => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: workload.name, namespace: workload.namespace, labels: workloadLabels(workload) },
  spec: {
    replicas,
    // A new pod is ready before an old one is told to stop.
    strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    selector: { matchLabels: selectorOf(workload.name) },
    template: podTemplate(workload),
  },
});

const podTemplate = (workload: Workload): Manifest => ({
  metadata: {
    labels: workloadLabels(workload),
    annotations: {
      "prometheus.io/scrape": "true",
      "prometheus.io/port": String(httpPort),
      "prometheus.io/path": "/metrics",
    },
  },
  spec: {
    serviceAccountName: workload.name,
    // Strangers speak to the gateway, which asks the API server nothing, and to the dashboard, which asks it as somebody else.
    automountServiceAccountToken: workload.component !== "gateway" && workload.component !== "dashboard",
    // A process hands its work back and is gone within 10 s.
    terminationGracePeriodSeconds: 30,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: userId,
      runAsGroup: userId,
      // The private key is readable for this group alone.
      fsGroup: userId,
      seccompProfile: { type: "RuntimeDefault" },
    },
    topologySpreadConstraints: ["topology.kubernetes.io/zone", "kubernetes.io/hostname"].map(
      (topologyKey) => ({
        maxSkew: 1,
        topologyKey,
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: selectorOf(workload.name) },
      }),
    ),
    containers: [container(workload)],
    // Node keeps compiled code here, so that a container that starts again starts faster.
    volumes: [
      { name: "tmp", emptyDir: { sizeLimit: "64Mi" } },
      { name: "bus", secret: { secretName: secretOf(workload.name), defaultMode: 0o440 } },
      ...(workload.own?.volumes ?? []),
    ],
  },
});

const container = ({ component, args, memory, own }: Workload): Manifest => ({
  name: component,
  image: imageName,
  args,
  envFrom: [{ configMapRef: { name: settingsName } }, ...(own?.envFrom ?? [])],
  env: [
    { name: "DENREI_HTTP_ADDRESS", value: `0.0.0.0:${httpPort}` },
    { name: "DENREI_REPLICA", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    { name: "NATS_CA", value: `${certificateFolder}/ca.crt` },
    { name: "NATS_CERT", value: `${certificateFolder}/tls.crt` },
    { name: "NATS_KEY", value: `${certificateFolder}/tls.key` },
    ...(own?.env ?? []),
  ],
  ports: [{ name: "http", containerPort: httpPort }, ...(own?.ports ?? [])],
  ...(own && { lifecycle: own.lifecycle }),
  // On a node where everything starts at once a start takes minutes, and a restart only adds to that.
  startupProbe: { ...probe("/healthz"), periodSeconds: 1, failureThreshold: 300 },
  readinessProbe: { ...probe("/readyz"), periodSeconds: 5 },
  // Generous: a process that is short of CPU is not helped by a restart.
  livenessProbe: { ...probe("/healthz"), periodSeconds: 10, failureThreshold: 6 },
  // No CPU limit: throttling would cost ownership of what is being reconciled.
  resources: { requests: requests[component], limits: { memory: `${memory}Mi` } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  },
  volumeMounts: [
    { name: "tmp", mountPath: "/tmp" },
    { name: "bus", mountPath: certificateFolder, readOnly: true },
    ...(own?.volumeMounts ?? []),
  ],
});

const probe = (path: string) => ({ httpGet: { path, port: "http" }, timeoutSeconds: 5 });
