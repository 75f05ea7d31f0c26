/** A simulated metrics API: a CRD of the same group and version, because no metrics-server runs here. */
import { poll } from "../../deploy/local/run/poll.ts";
import type { LocalTestEnvironment } from "./environment.ts";
import { grant } from "./rights.ts";

const group = "metrics.k8s.io";
const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const metrics = (namespace: string) => `/apis/${group}/v1beta1/namespaces/${namespace}/pods`;

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: `pods.${group}`,
    annotations: { "api-approved.kubernetes.io": "unapproved, simulated" },
  },
  spec: {
    group,
    names: { kind: "PodMetrics", plural: "pods" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1beta1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

/** A simulated metrics API. */
export interface SimulatedPodMetrics {
  /** Sets the usage of a pod, with the labels by which it is selected. */
  set(
    name: string,
    labels: Readonly<Record<string, string>>,
    usage: { cpu: string; memory: string },
  ): Promise<void>;
  /** Removes the API. */
  remove(): Promise<void>;
}

/** Installs the API in a cluster, and lets a user read it in a namespace, as the roles of metrics-server do. */
export async function simulatedPodMetrics(
  { client }: Pick<LocalTestEnvironment, "client">,
  namespace: string,
  user: string,
): Promise<SimulatedPodMetrics> {
  await client.request({ method: "POST", path: crds, body: definition });
  const rbac = "rbac.authorization.k8s.io";
  const metadata = { name: `${user}-pod-metrics` };
  await grant(client, [
    {
      ...{ apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata },
      rules: [{ apiGroups: [group], resources: ["pods"], verbs: ["list"] }],
    },
    {
      ...{ apiVersion: `${rbac}/v1`, kind: "RoleBinding", metadata: { ...metadata, namespace } },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: metadata.name },
      subjects: [{ apiGroup: rbac, kind: "User", name: user }],
    },
  ]);
  return {
    async set(name, labels, usage) {
      const body = {
        apiVersion: `${group}/v1beta1`,
        kind: "PodMetrics",
        metadata: { name, namespace, labels },
        containers: [{ name: "main", usage }],
      };
      const write = () => client.request({ method: "POST", path: metrics(namespace), body });
      // The API server serves a new kind a moment after its CRD was created.
      await poll("the simulated metrics API", write, { timeoutMillis: 60_000 });
    },
    async remove() {
      await client.request({ method: "DELETE", path: `${crds}/pods.${group}` });
    },
  };
}
