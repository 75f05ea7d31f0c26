/** Deployments and Services of bridge, gateway, dashboard, and workers. */
import { certificateSecretName } from "./certificates.ts";
import { type Layout, memoryOf, needGateway, sharedName, type WorkerSet } from "./layout.ts";
import { admissionName, bridgeName, gatewayName, labelsOf, workloadName } from "./rbac.ts";

type Manifest = Record<string, unknown>;

/** Name of the image. A kustomization sets its registry and tag. */
export const imageName = "denrei";

/** The ConfigMap with the settings that all processes share, such as the address of the bus. */
export const settingsName = "denrei-settings";

/** The Secret with a file of signing secrets for each webhook. The operator creates it when setting up the webhook. */
export const webhookSecretsName = "denrei-webhook-secrets";

/** The user in the image. */
const userId = 65532;

/** Port of probes and metrics. */
export const httpPort = 8080;
/** Port for webhooks from GitHub. */
export const webhooksPort = 8081;
/** Port for browsers. */
export const dashboardPort = 8082;

/** Port for the API server. */
export const admissionPort = 8083;

const certificateFolder = "/etc/denrei/bus";
const admissionCertificateFolder = "/etc/denrei/admission";
const webhookSecretsFolder = "/etc/denrei/webhooks";

/** Memory limit of the bridge, in MiB. */
const bridgeMebibytes = 512;

/** Default number of pods. */
const replicas = 2;

/** How long a terminating pod keeps serving: load balancers send to it until they notice. */
export const drainSeconds = 5;

/**
 * Requests for a pod under normal load, measured on the local platform (figures in deploy/kubernetes/README.md). The
 * scheduler places pods by them, and a HorizontalPodAutoscaler measures CPU usage relative to them.
 */
const requests = {
  bridge: { cpu: "75m", memory: "256Mi" },
  gateway: { cpu: "50m", memory: "128Mi" },
  dashboard: { cpu: "50m", memory: "128Mi" },
  worker: { cpu: "100m", memory: "256Mi" },
  run: { cpu: "100m", memory: "384Mi" },
  admission: { cpu: "50m", memory: "128Mi" },
} as const;

/** What differs between workloads. */
export interface Workload {
  readonly name: string;
  readonly namespace: string;
  readonly component: "bridge" | "gateway" | "dashboard" | "worker" | "run" | "admission";
  readonly args: readonly string[];
  /** Memory limit, in MiB. */
  readonly memory: number;
  /** Additions for pods of this workload. */
  readonly own?: {
    readonly envFrom?: readonly object[];
    readonly env: readonly object[];
    readonly ports: readonly object[];
    readonly volumeMounts: readonly object[];
    readonly volumes: readonly object[];
    readonly lifecycle: object;
  };
}

/** The Deployment of workers. Its replicas share the work. */
export const workerManifests = (set: WorkerSet, layout: Layout, namespace: string): Manifest[] => [
  deployment({
    name: workloadName(set),
    namespace,
    component: "worker",
    args: ["worker", ...workerArguments(set, layout)],
    memory: memoryOf(set),
  }),
  disruptionBudget(workloadName(set), namespace),
];

/** A project knows its groups, but not the functions without one. */
function workerArguments({ name, functions }: WorkerSet, layout: Layout): readonly string[] {
  if (name !== sharedName) return [name];
  return functions.length === layout.functions.length ? ["all"] : functions.map((fn) => fn.name);
}

/** The Deployment of the process that is bridge, gateway, and worker, and the Service of the gateway in it. */
export const runManifests = (set: WorkerSet, namespace: string): Manifest[] => {
  const name = workloadName(set);
  const webhooks = needGateway(set.functions);
  return [
    deployment({
      name,
      namespace,
      component: "run",
      args: ["run"],
      memory: memoryOf(set) + bridgeMebibytes,
      ...(webhooks && { own: webhookParts }),
    }),
    disruptionBudget(name, namespace),
    ...(webhooks ? [gatewayService(name, namespace)] : []),
  ];
};

/** The Deployment of the bridge. One pod leads each kind, the others stand by. A node drain leaves at least one. */
export const bridgeManifests = (namespace: string): Manifest[] => [
  deployment({
    name: bridgeName,
    namespace,
    component: "bridge",
    args: ["bridge"],
    memory: bridgeMebibytes,
  }),
  disruptionBudget(bridgeName, namespace),
];

/** The gateway. Any pod accepts any webhook. A site routes webhooks to its Service. */
export const gatewayManifests = (namespace: string): Manifest[] => [
  deployment({
    name: gatewayName,
    namespace,
    component: "gateway",
    args: ["gateway"],
    memory: 512,
    own: webhookParts,
  }),
  disruptionBudget(gatewayName, namespace),
  gatewayService(gatewayName, namespace),
];

/** What a pod needs to receive webhooks. */
const webhookParts = {
  env: [
    { name: "DENREI_WEBHOOK_ADDRESS", value: `0.0.0.0:${webhooksPort}` },
    { name: "DENREI_WEBHOOK_SECRETS", value: webhookSecretsFolder },
  ],
  ports: [{ name: "webhooks", containerPort: webhooksPort }],
  volumeMounts: [{ name: "webhooks", mountPath: webhookSecretsFolder, readOnly: true }],
  volumes: [{ name: "webhooks", secret: { secretName: webhookSecretsName, defaultMode: 0o440 } }],
  lifecycle: { preStop: { sleep: { seconds: drainSeconds } } },
};

/** The Service of the gateway in these pods. Routes of a site refer to it. */
const gatewayService = (pods: string, namespace: string): Manifest => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: gatewayName, namespace, labels: labelsOf(gatewayName) },
  spec: {
    selector: selectorOf(pods),
    ports: [{ name: "webhooks", port: 80, targetPort: "webhooks", appProtocol: "http" }],
  },
});

/** The webhook that the API server calls. Any pod answers any call. */
export const admissionManifests = (namespace: string): Manifest[] => [
  deployment({
    name: admissionName,
    namespace,
    component: "admission",
    args: ["admission"],
    memory: 512,
    own: {
      env: [
        { name: "DENREI_ADMISSION_ADDRESS", value: `0.0.0.0:${admissionPort}` },
        { name: "DENREI_ADMISSION_CERT", value: `${admissionCertificateFolder}/tls.crt` },
        { name: "DENREI_ADMISSION_KEY", value: `${admissionCertificateFolder}/tls.key` },
      ],
      ports: [{ name: "admission", containerPort: admissionPort }],
      volumeMounts: [{ name: "admission", mountPath: admissionCertificateFolder, readOnly: true }],
      volumes: [
        {
          name: "admission",
          secret: { secretName: certificateSecretName(admissionName), defaultMode: 0o440 },
        },
      ],
      lifecycle: { preStop: { sleep: { seconds: drainSeconds } } },
    },
  }),
  disruptionBudget(admissionName, namespace),
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: admissionName, namespace, labels: labelsOf(admissionName) },
    spec: {
      selector: selectorOf(admissionName),
      ports: [{ name: "admission", port: 443, targetPort: "admission", appProtocol: "https" }],
    },
  },
];

/** The webhook of the API server uses no bus. */
const usesBus = ({ component }: Pick<Workload, "component">): boolean => component !== "admission";

/** Labels that select a workload's pods. */
export const selectorOf = (name: string) => ({ "app.kubernetes.io/name": name });

/** The component label selects all workers at once. */
const workloadLabels = ({ name, component }: Pick<Workload, "name" | "component">) => ({
  ...labelsOf(name),
  "app.kubernetes.io/component": component,
});

/** Allows the eviction of one pod of a workload at a time. */
export const disruptionBudget = (name: string, namespace: string): Manifest => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name, namespace, labels: labelsOf(name) },
  // Works for any number of replicas: evicting the only pod loses nothing.
  spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(name) } },
});

/** The Deployment of a workload. */
export const deployment = (workload: Workload): Manifest => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: workload.name, namespace: workload.namespace, labels: workloadLabels(workload) },
  spec: {
    replicas,
    // A new pod is ready before an old one is stopped.
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
    // The gateway and the dashboard are exposed. The dashboard calls the API server as the user, the others do not call it.
    automountServiceAccountToken: !["gateway", "dashboard", "admission"].includes(workload.component),
    // A process returns its work and exits within 10 s.
    terminationGracePeriodSeconds: 30,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: userId,
      runAsGroup: userId,
      // Only this group can read the private key.
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
    // Node caches compiled code in /tmp, so a restarted container starts faster.
    volumes: [
      { name: "tmp", emptyDir: { sizeLimit: "64Mi" } },
      ...(usesBus(workload)
        ? [{ name: "bus", secret: { secretName: certificateSecretName(workload.name), defaultMode: 0o440 } }]
        : []),
      ...(workload.own?.volumes ?? []),
    ],
  },
});

const busCertificate = [
  { name: "NATS_CA", value: `${certificateFolder}/ca.crt` },
  { name: "NATS_CERT", value: `${certificateFolder}/tls.crt` },
  { name: "NATS_KEY", value: `${certificateFolder}/tls.key` },
];

const container = ({ component, args, memory, own }: Workload): Manifest => ({
  name: component,
  image: imageName,
  args,
  envFrom: [{ configMapRef: { name: settingsName } }, ...(own?.envFrom ?? [])],
  env: [
    { name: "DENREI_HTTP_ADDRESS", value: `0.0.0.0:${httpPort}` },
    { name: "DENREI_REPLICA", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    ...(usesBus({ component }) ? busCertificate : []),
    ...(own?.env ?? []),
  ],
  ports: [{ name: "http", containerPort: httpPort }, ...(own?.ports ?? [])],
  ...(own && { lifecycle: own.lifecycle }),
  // When a whole node starts, a process may take minutes, and restarting it would add to the load.
  startupProbe: { ...probe("/healthz"), periodSeconds: 1, failureThreshold: 300 },
  readinessProbe: { ...probe("/readyz"), periodSeconds: 5 },
  // Generous: restarting a process that is short of CPU does not help.
  livenessProbe: { ...probe("/healthz"), periodSeconds: 10, failureThreshold: 6 },
  // No CPU limit: a throttled worker would lose ownership of the objects that it reconciles.
  resources: { requests: requests[component], limits: { memory: `${memory}Mi` } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  },
  volumeMounts: [
    { name: "tmp", mountPath: "/tmp" },
    ...(usesBus({ component }) ? [{ name: "bus", mountPath: certificateFolder, readOnly: true }] : []),
    ...(own?.volumeMounts ?? []),
  ],
});

const probe = (path: string) => ({ httpGet: { path, port: "http" }, timeoutSeconds: 5 });
