/**
 * kwok: reports its nodes ready and their pods running, without running anything. Logs of their containers come from a file
 * that tests write.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PolicyRule } from "denrei/runtime";
import type { Child } from "../run/child.ts";
import type { Run } from "../run/run.ts";
import { type ControlPlaneFiles, expectOk, type Trust } from "./apiserver.ts";
import type { PartOptions } from "./part.ts";
import { withFreePorts } from "./ports.ts";

/** Options of kwok. */
export interface KwokOptions extends PartOptions {
  /** Path of a kubeconfig for a user with {@link kwokRules}. */
  readonly kubeconfigPath: string;
  readonly files: Pick<ControlPlaneFiles, "serverCert" | "serverKey">;
  /** PEM of the authority, and an administrator for the readiness probe. */
  readonly trust: Trust;
}

/** Annotation of nodes that kwok manages, from kwok's documentation. kwok ignores all other nodes. */
export const kwokNodeAnnotation = { "kwok.x-k8s.io/node": "fake" } as const;

/**
 * Annotation of a pod that runs but is not ready, for tests of failing rollouts. It takes effect at any time: adding it makes
 * a ready pod unready, removing it makes the pod ready.
 */
export const notReadyAnnotation = { "kwok.denrei.dev/not-ready": "true" } as const;

/** kwok, and the file with its containers' logs. */
export interface Kwok extends Child {
  /**
   * The log of every container on these nodes, initially empty. Simulated applications append lines formatted by
   * {@link podLogLine}.
   */
  readonly podLogsPath: string;
}

/** Formats text as log lines of a container runtime, which kwok parses, one per line of the text. */
export const podLogLine = (text: string, at: Date = new Date()): string =>
  text
    .split("\n")
    .map((line) => `${at.toISOString()} stdout F ${line}\n`)
    .join("");

/** The stages of nodes and pods. */
const stagesPath = fileURLToPath(new URL("./stages.yaml", import.meta.url));

/** RBAC rules for kwok's user. */
export const kwokRules: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] },
  { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch", "delete"] },
  { apiGroups: [""], resources: ["nodes/status", "pods/status"], verbs: ["patch"] },
];

/** Starts kwok and waits until it is healthy. */
export async function startKwok(run: Run, options: KwokOptions): Promise<Kwok> {
  const folder = join(run.directory, "kwok");
  // A separate folder, because kwok rereads the file on every change in its folder.
  const podLogsPath = join(folder, "logs", "containers.log");
  const logsConfig = join(folder, "logs.json");
  await mkdir(join(folder, "logs"), { recursive: true });
  await writeFile(podLogsPath, "");
  await writeFile(logsConfig, JSON.stringify(clusterLogs(podLogsPath)));
  const child = await startChild(run, options, [stagesPath, logsConfig]);
  return Object.assign(child, { podLogsPath });
}

/** https://kwok.sigs.k8s.io/docs/user/kwok-log/ */
const clusterLogs = (logsFile: string) => ({
  apiVersion: "kwok.x-k8s.io/v1alpha1",
  kind: "ClusterLogs",
  metadata: { name: "every-container" },
  spec: { logs: [{ logsFile, previousLogsFile: logsFile, follow: true }] },
});

function startChild(run: Run, options: KwokOptions, configs: readonly string[]): Promise<Child> {
  return withFreePorts(1, async ([port]) => {
    const [[annotation, value] = []] = Object.entries(kwokNodeAnnotation);
    const child = run.child({
      name: "kwok",
      command: options.binary,
      args: [
        `--kubeconfig=${options.kubeconfigPath}`,
        ...configs.map((path) => `--config=${path}`),
        `--manage-nodes-with-annotation-selector=${annotation}=${value}`,
        // Without the node lifecycle controller, leases have no reader, and each is a write every ten seconds.
        "--node-lease-duration-seconds=0",
        "--cidr=10.244.0.0/16",
        `--server-address=127.0.0.1:${port}`,
        // The address from which the API server fetches logs.
        "--node-ip=127.0.0.1",
        `--node-port=${port}`,
        `--tls-cert-file=${options.files.serverCert}`,
        `--tls-private-key-file=${options.files.serverKey}`,
      ],
      // Do not read stages from the user's ~/.kwok/kwok.yaml.
      env: { KWOK_WORKDIR: join(run.directory, "kwok") },
      ready: () => expectOk(`https://127.0.0.1:${port}/readyz`, options.trust),
      readyMillis: 60_000,
      graceMillis: 1000,
      // kwok has no state to save.
      closingSignal: "SIGKILL",
      onUnexpectedExit: options.onUnexpectedExit,
    });
    await child.start(options.signal);
    return child;
  });
}
