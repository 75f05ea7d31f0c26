/** The dashboard in a cluster: its Deployment, its Service, and a kubeconfig without credentials. */
import { dashboardName, labelsOf } from "./rbac.ts";
import { dashboardPort, deployment, disruptionBudget, drainSeconds, selectorOf } from "./workloads.ts";
import { yamlText } from "./yaml.ts";

type Manifest = Record<string, unknown>;

/** The ConfigMap with the dashboard's own settings: its URL and the OpenID Connect issuer. */
export const dashboardSettingsName = "denrei-dashboard-settings";

/** The ConfigMap with a kubeconfig that has the address of the API server and no user. */
export const dashboardKubeconfigName = "denrei-dashboard-kubeconfig";

/** The Secret with the session keys and the client secret for the issuer. */
export const dashboardSecretsName = "denrei-dashboard-secrets";

const dashboardSecretsFolder = "/etc/denrei/dashboard";
const apiServerFolder = "/etc/denrei/api-server";

/** The dashboard. Its pods are interchangeable. It calls the API server as the logged-in user, so it has no service account token. */
export const dashboardManifests = (namespace: string): Manifest[] => [
  deployment({
    name: dashboardName,
    namespace,
    component: "dashboard",
    args: ["dashboard"],
    memory: 512,
    own: {
      envFrom: [{ configMapRef: { name: dashboardSettingsName } }],
      env: [
        // Without a token, the pod has no file with its namespace.
        { name: "CONTROLLER_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
        { name: "DENREI_DASHBOARD_ADDRESS", value: `0.0.0.0:${dashboardPort}` },
        { name: "DENREI_DASHBOARD_KEYS", value: `${dashboardSecretsFolder}/session-keys` },
        { name: "DENREI_OIDC_CLIENT_SECRET", value: `${dashboardSecretsFolder}/client-secret` },
        { name: "KUBECONFIG", value: `${apiServerFolder}/kubeconfig` },
      ],
      ports: [{ name: "web", containerPort: dashboardPort }],
      volumeMounts: [
        { name: "dashboard", mountPath: dashboardSecretsFolder, readOnly: true },
        { name: "api-server", mountPath: apiServerFolder, readOnly: true },
      ],
      volumes: [
        { name: "dashboard", secret: { secretName: dashboardSecretsName, defaultMode: 0o440 } },
        {
          name: "api-server",
          projected: {
            sources: [
              { configMap: { name: dashboardKubeconfigName } },
              // Kubernetes creates this ConfigMap in every namespace.
              { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
            ],
          },
        },
      ],
      lifecycle: { preStop: { sleep: { seconds: drainSeconds } } },
    },
  }),
  disruptionBudget(dashboardName, namespace),
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: dashboardName, namespace, labels: labelsOf(dashboardName) },
    spec: {
      selector: selectorOf(dashboardName),
      ports: [{ name: "web", port: 80, targetPort: "web", appProtocol: "http" }],
    },
  },
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: dashboardKubeconfigName, namespace, labels: labelsOf(dashboardName) },
    data: { kubeconfig: yamlText([userlessKubeconfig]) },
  },
];

/** The address and certificate authority of the API server. A site with a proxy in front of it replaces this ConfigMap. */
const userlessKubeconfig = {
  apiVersion: "v1",
  kind: "Config",
  "current-context": "here",
  contexts: [{ name: "here", context: { cluster: "here", user: "logged-in-user" } }],
  clusters: [
    {
      name: "here",
      cluster: {
        server: "https://kubernetes.default.svc",
        "certificate-authority": `${apiServerFolder}/ca.crt`,
      },
    },
  ],
  users: [],
};
