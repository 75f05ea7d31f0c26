/**
 * kwok: says of its nodes that they are ready and of the pods there that they run, and runs nothing. What is asked for as the
 * log of a container there is what somebody has written into a file.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PolicyRule } from "../../../bus/worker/function.ts";
import type { Child } from "../run/child.ts";
import type { Run } from "../run/run.ts";
import { type ControlPlaneFiles, expectOk, type Trust } from "./apiserver.ts";
import type { PartOptions } from "./part.ts";
import { withFreePorts } from "./ports.ts";

/** What kwok needs besides its program. */
export interface KwokOptions extends PartOptions {
  /** Path of a kubeconfig for a user with {@link kwokRules}. */
  readonly kubeconfigPath: string;
  readonly files: Pick<ControlPlaneFiles, "serverCert" | "serverKey">;
  /** PEM of the authority, and an administrator to ask for readiness as. */
  readonly trust: Trust;
}

/** The annotation of a node that kwok may manage, as in kwok's own documentation. All other nodes are left alone. */
export const kwokNodeAnnotation = { "kwok.x-k8s.io/node": "fake" } as const;

/**
 * The annotation of a pod that shall run and never become ready, for tests of rollouts that fail. It counts at any time: a
 * pod that gets it is ready no longer, one that loses it becomes ready.
 */
export const notReadyAnnotation = { "kwok.denrei.dev/not-ready": "true" } as const;

/** kwok, and where its containers' logs come from. */
export interface Kwok extends Child {
  /**
   * The file that is the log of each container of each pod on these nodes: lines of {@link podLogLine}, which whoever plays an
   * application appends. It is empty at first.
   */
  readonly podLogsPath: string;
}

/** A line of a log as container runtimes write it, which kwok reads; a text of several lines is as many of them. */
export const podLogLine = (text: string, at: Date = new Date()): string =>
  text
    .split("\n")
    .map((line) => `${at.toISOString()} stdout F ${line}\n`)
    .join("");

/** What becomes of nodes and pods. */
const stagesPath = fileURLToPath(new URL("./stages.yaml", import.meta.url));

/** What kwok's user has to be allowed. */
export const kwokRules: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] },
  { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch", "delete"] },
  { apiGroups: [""], resources: ["nodes/status", "pods/status"], verbs: ["patch"] },
];

/** Starts it and waits until it answers. */
export async function startKwok(run: Run, options: KwokOptions): Promise<Kwok> {
  const folder = join(run.directory, "kwok");
  // A folder of its own: kwok looks again at each change beside the file.
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
        // Without the node lifecycle controller nobody looks at leases, and each is a write every ten seconds.
        "--node-lease-duration-seconds=0",
        "--cidr=10.244.0.0/16",
        `--server-address=127.0.0.1:${port}`,
        // Where the API server asks for logs.
        "--node-ip=127.0.0.1",
        `--node-port=${port}`,
        `--tls-cert-file=${options.files.serverCert}`,
        `--tls-private-key-file=${options.files.serverKey}`,
      ],
      // Stages in a user's ~/.kwok/kwok.yaml would count as well.
      env: { KWOK_WORKDIR: join(run.directory, "kwok") },
      ready: () => expectOk(`https://127.0.0.1:${port}/readyz`, options.trust),
      readyMillis: 60_000,
      graceMillis: 1000,
      // It has nothing of its own to save.
      closingSignal: "SIGKILL",
      onUnexpectedExit: options.onUnexpectedExit,
    });
    await child.start(options.signal);
    return child;
  });
}
