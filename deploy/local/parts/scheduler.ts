/** kube-scheduler: assigns pods to nodes. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Child } from "../run/child.ts";
import type { Run } from "../run/run.ts";
import { type ControlPlaneFiles, expectOk, type Trust } from "./apiserver.ts";
import type { PartOptions } from "./part.ts";
import { withFreePorts } from "./ports.ts";

/** Options of the scheduler. */
export interface SchedulerOptions extends PartOptions {
  /** Path of a kubeconfig for the user system:kube-scheduler. */
  readonly kubeconfigPath: string;
  readonly files: Pick<ControlPlaneFiles, "serverCert" | "serverKey">;
  /** PEM of the authority, and an administrator for the readiness probe. */
  readonly trust: Trust;
}

/** Starts the scheduler and waits until its caches of nodes and pods are filled. */
export async function startScheduler(run: Run, options: SchedulerOptions): Promise<Child> {
  const configPath = join(run.directory, "scheduler.yaml");
  await writeFile(configPath, configuration(options.kubeconfigPath));
  return withFreePorts(1, async ([port]) => {
    const child = run.child({
      name: "kube-scheduler",
      command: options.binary,
      args: [
        `--config=${configPath}`,
        "--bind-address=127.0.0.1",
        `--secure-port=${port}`,
        `--tls-cert-file=${options.files.serverCert}`,
        `--tls-private-key-file=${options.files.serverKey}`,
      ],
      ready: () => expectOk(`https://127.0.0.1:${port}/readyz`, options.trust),
      readyMillis: 60_000,
      graceMillis: 1000,
      // The scheduler has no state to save.
      closingSignal: "SIGKILL",
      onUnexpectedExit: options.onUnexpectedExit,
    });
    await child.start(options.signal);
    return child;
  });
}

/** https://kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1/ */
const configuration = (kubeconfig: string): string =>
  stringify({
    apiVersion: "kubescheduler.config.k8s.io/v1",
    kind: "KubeSchedulerConfiguration",
    // There is only one scheduler, and a lease would be a write every two seconds.
    leaderElection: { leaderElect: false },
    clientConnection: { kubeconfig, qps: 500, burst: 1000 },
    enableProfiling: false,
    // How soon an unschedulable pod is retried, besides on changes of the cluster.
    podInitialBackoffSeconds: 1,
    podMaxBackoffSeconds: 2,
  });
