/** What runs in a cluster: the bridge and one Deployment per function, which differ in little but their names. */
import type { ReconcileFunction } from "../../bus/worker/function.ts";
import { secretOf } from "./certificates.ts";
import { bridgeName, labelsOf, workloadName } from "./rbac.ts";

type Manifest = Record<string, unknown>;

/** Name of the image; the kustomization says where it comes from and which version it is. */
export const imageName = "denrei";

/** The ConfigMap with the settings that all processes share: the address of the bus, above all. */
export const settingsName = "denrei-settings";

/** The user in the image. */
const userId = 65532;

const httpPort = 8080;

/** Where a process finds the certificate that tells the bus who it is. */
const certificateFolder = "/etc/denrei/bus";

/** How many pods there are until somebody who has measured says otherwise. */
const replicas = 2;

interface Workload {
  readonly name: string;
  readonly namespace: string;
  readonly component: "bridge" | "worker";
  readonly args: readonly string[];
}

/** The Deployment of a function's workers; any number of replicas share its work. */
export const functionDeployment = (fn: Pick<ReconcileFunction, "name">, namespace: string): Manifest =>
  deployment({ name: workloadName(fn), namespace, component: "worker", args: ["worker", fn.name] });

/** The Deployment of the bridge: one pod leads each kind, the others stand by; a drain leaves one of them. */
export const bridgeManifests = (namespace: string): Manifest[] => [
  deployment({ name: bridgeName, namespace, component: "bridge", args: ["bridge"] }),
  {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: bridgeName, namespace, labels: labelsOf(bridgeName) },
    spec: { minAvailable: 1, selector: { matchLabels: selectorOf(bridgeName) } },
  },
];

const selectorOf = (name: string) => ({ "app.kubernetes.io/name": name });

const deployment = (workload: Workload): Manifest => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: workload.name, namespace: workload.namespace, labels: labelsOf(workload.name) },
  spec: { replicas, selector: { matchLabels: selectorOf(workload.name) }, template: podTemplate(workload) },
});

const podTemplate = ({ name, component, args }: Workload): Manifest => ({
  metadata: {
    labels: { ...labelsOf(name), "app.kubernetes.io/component": component },
    annotations: {
      "prometheus.io/scrape": "true",
      "prometheus.io/port": String(httpPort),
      "prometheus.io/path": "/metrics",
    },
  },
  spec: {
    serviceAccountName: name,
    automountServiceAccountToken: true,
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
        labelSelector: { matchLabels: selectorOf(name) },
      }),
    ),
    containers: [container(component, args)],
    // Node keeps compiled code here, so that a container that starts again starts faster.
    volumes: [
      { name: "tmp", emptyDir: { sizeLimit: "64Mi" } },
      { name: "bus", secret: { secretName: secretOf(name), defaultMode: 0o440 } },
    ],
  },
});

const container = (name: string, args: readonly string[]): Manifest => ({
  name,
  image: imageName,
  args,
  envFrom: [{ configMapRef: { name: settingsName } }],
  env: [
    { name: "DENREI_HTTP_ADDRESS", value: `0.0.0.0:${httpPort}` },
    { name: "DENREI_REPLICA", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    { name: "NATS_CA", value: `${certificateFolder}/ca.crt` },
    { name: "NATS_CERT", value: `${certificateFolder}/tls.crt` },
    { name: "NATS_KEY", value: `${certificateFolder}/tls.key` },
  ],
  ports: [{ name: "http", containerPort: httpPort }],
  startupProbe: { ...probe("/healthz"), periodSeconds: 1, failureThreshold: 60 },
  readinessProbe: { ...probe("/readyz"), periodSeconds: 5 },
  // Generous: a process that is short of CPU is not helped by a restart.
  livenessProbe: { ...probe("/healthz"), periodSeconds: 10, failureThreshold: 6 },
  // A worker needs about 200 MB. No CPU limit: throttling would cost ownership of what is being reconciled.
  resources: { requests: { cpu: "50m", memory: "256Mi" }, limits: { memory: "512Mi" } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  },
  volumeMounts: [
    { name: "tmp", mountPath: "/tmp" },
    { name: "bus", mountPath: certificateFolder, readOnly: true },
  ],
});

const probe = (path: string) => ({ httpGet: { path, port: "http" }, timeoutSeconds: 5 });
