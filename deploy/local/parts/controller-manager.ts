/** kube-controller-manager: garbage collection, namespaces, service accounts, and workload controllers. */
import type { Child } from "../run/child.ts";
import type { Run } from "../run/run.ts";
import { type ControlPlaneFiles, expectOk, type Trust } from "./apiserver.ts";
import type { PartOptions } from "./part.ts";
import { withFreePorts } from "./ports.ts";

/** Options of the controller manager. */
export interface ControllerManagerOptions extends PartOptions {
  readonly server: string;
  /** Path of a kubeconfig for the user system:kube-controller-manager. */
  readonly kubeconfigPath: string;
  readonly files: ControlPlaneFiles;
  /** Whether the nodes run real pods with volumes. */
  readonly pods: "none" | "real";
  /** PEM of the authority, and an administrator for the readiness probe. */
  readonly trust: Trust;
}

/**
 * Controllers that work without nodes. Those for nodes, volumes, clouds, and certificates are excluded. So is the pod garbage
 * collector, which would delete pods that a test binds to a missing node.
 */
const controllers = [
  "clusterrole-aggregation-controller",
  "cronjob-controller",
  "daemonset-controller",
  "deployment-controller",
  "disruption-controller",
  "endpoints-controller",
  "endpointslice-controller",
  "garbage-collector-controller",
  "job-controller",
  "namespace-controller",
  // Removes its finalizer from deleted claims.
  "persistentvolumeclaim-protection-controller",
  "replicaset-controller",
  "resourcequota-controller",
  "root-ca-certificate-publisher-controller",
  "serviceaccount-controller",
  "serviceaccount-token-controller",
  "statefulset-controller",
  "ttl-after-finished-controller",
];

/** Additional controllers for real pods. */
const controllersOfPods = ["persistentvolume-binder-controller", "pod-garbage-collector-controller"];

/** Starts the controller manager and waits until it is healthy and the namespace `default` has its service account. */
export function startControllerManager(run: Run, options: ControllerManagerOptions): Promise<Child> {
  const { binary, files, kubeconfigPath, server, signal, trust } = options;
  return withFreePorts(1, async ([port]) => {
    const child = run.child({
      name: "kube-controller-manager",
      command: binary,
      args: [
        `--kubeconfig=${kubeconfigPath}`,
        // Each controller uses its own service account, with the same RBAC rights as in any cluster.
        "--use-service-account-credentials=true",
        `--controllers=${[...controllers, ...(options.pods === "real" ? controllersOfPods : [])].join(",")}`,
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        `--secure-port=${port}`,
        `--tls-cert-file=${files.serverCert}`,
        `--tls-private-key-file=${files.serverKey}`,
        `--root-ca-file=${files.ca}`,
        `--service-account-private-key-file=${files.signingKey}`,
        // The default of 20 requests per second would slow down the cleanup of large tests.
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        "--profiling=false",
      ],
      ready: async () => {
        await expectOk(`https://127.0.0.1:${port}/healthz`, trust);
        await expectOk(`${server}/api/v1/namespaces/default/serviceaccounts/default`, trust);
      },
      readyMillis: 60_000,
      graceMillis: 1000,
      onUnexpectedExit: options.onUnexpectedExit,
    });
    await child.start(signal);
    return child;
  });
}
