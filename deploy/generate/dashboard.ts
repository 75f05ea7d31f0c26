/** The dashboard in a cluster: a Deployment, its Service, and where it finds the API server without being anybody there. */
import { dashboardName, labelsOf } from "./rbac.ts";
import { dashboardPort, deployment, disruptionBudget, goodbyeSeconds, selectorOf } from "./workloads.ts";
import { yamlText } from "./yaml.ts";

type Manifest = Record<string, unknown>;

/** The ConfigMap with what only the dashboard is told: where it is, and where people log in. */
export const dashboardSettingsName = "denrei-dashboard-settings";

/** The ConfigMap with a kubeconfig that says where the API server is, and names nobody. */
export const dashboardKubeconfigName = "denrei-dashboard-kubeconfig";

/** The Secret with the keys of sessions and the secret that the issuer knows the dashboard by. */
export const dashboardSecretsName = "denrei-dashboard-secrets";

const dashboardSecretsFolder = "/etc/denrei/dashboard";
const apiServerFolder = "/etc/denrei/api-server";

/** The dashboard: any pod serves anybody. It asks the API server as whoever is logged in, so it has no token of its own. */
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
              // Kubernetes puts it into every namespace.
              { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
            ],
          },
        },
      ],
      lifecycle: { preStop: { sleep: { seconds: goodbyeSeconds } } },
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
    data: { kubeconfig: yamlText([namelessKubeconfig]) },
  },
];

/** Where a pod finds the API server, and whom to believe that it is. A site that has a proxy before it says so here. */
const namelessKubeconfig = {
  apiVersion: "v1",
  kind: "Config",
  "current-context": "here",
  contexts: [{ name: "here", context: { cluster: "here", user: "whoever-is-logged-in" } }],
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
