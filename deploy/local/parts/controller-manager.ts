/** kube-controller-manager: garbage collection, namespaces, service accounts and the workload controllers. */
import type { Child } from "../run/child.ts";
import type { Run } from "../run/run.ts";
import { type ControlPlaneFiles, expectOk, type Trust } from "./apiserver.ts";
import type { PartOptions } from "./part.ts";
import { withFreePorts } from "./ports.ts";

/** What the controller manager needs besides its program. */
export interface ControllerManagerOptions extends PartOptions {
  /** The API server's URL. */
  readonly server: string;
  /** Path of a kubeconfig for the user system:kube-controller-manager. */
  readonly kubeconfigPath: string;
  readonly files: ControlPlaneFiles;
  /** Whether there are nodes whose pods and volumes are real. */
  readonly pods: "none" | "real";
  /** PEM of the authority, and an administrator to ask for readiness as. */
  readonly trust: Trust;
}

/**
 * What works without nodes. Left out: everything about nodes, volumes, clouds and certificates, and the pod garbage
 * collector, which would delete pods that a test binds to a node that does not exist.
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
  // Takes its finalizer off claims that are deleted.
  "persistentvolumeclaim-protection-controller",
  "replicaset-controller",
  "resourcequota-controller",
  "root-ca-certificate-publisher-controller",
  "serviceaccount-controller",
  "serviceaccount-token-controller",
  "statefulset-controller",
  "ttl-after-finished-controller",
];

/** What real pods need besides. */
const controllersOfPods = ["persistentvolume-binder-controller", "pod-garbage-collector-controller"];

/** Starts it and waits until it is healthy and the namespace `default` has its service account. */
export function startControllerManager(run: Run, options: ControllerManagerOptions): Promise<Child> {
  const { binary, files, kubeconfigPath, server, signal, trust } = options;
  return withFreePorts(1, async ([port]) => {
    const child = run.child({
      name: "kube-controller-manager",
      command: binary,
      args: [
        `--kubeconfig=${kubeconfigPath}`,
        // Each controller acts as its own service account, with the rights RBAC gives it in any cluster.
        "--use-service-account-credentials=true",
        `--controllers=${[...controllers, ...(options.pods === "real" ? controllersOfPods : [])].join(",")}`,
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        `--secure-port=${port}`,
        `--tls-cert-file=${files.serverCert}`,
        `--tls-private-key-file=${files.serverKey}`,
        `--root-ca-file=${files.ca}`,
        `--service-account-private-key-file=${files.signingKey}`,
        // The defaults (20 a second) are for clusters that have other work to do than being cleaned up.
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
