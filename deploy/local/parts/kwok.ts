/** kwok: says of its nodes that they are ready and of the pods there that they run, and runs nothing. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PolicyRule } from "../../../bus/worker/function.ts";
import type { KeyPair } from "../pki.ts";
import type { Child } from "../run/child.ts";
import type { Run } from "../run/run.ts";
import { type ControlPlaneFiles, expectOk } from "./apiserver.ts";
import type { PartOptions } from "./part.ts";
import { withFreePorts } from "./ports.ts";

/** What kwok needs besides its program. */
export interface KwokOptions extends PartOptions {
  /** Path of a kubeconfig for a user with {@link kwokRules}. */
  readonly kubeconfigPath: string;
  readonly files: Pick<ControlPlaneFiles, "serverCert" | "serverKey">;
  /** PEM of the authority, and an administrator to ask for readiness as. */
  readonly trust: { readonly ca: string; readonly admin: KeyPair };
}

/** The annotation of a node that kwok may manage, as in kwok's own documentation. All other nodes are left alone. */
export const kwokNodeAnnotation = { "kwok.x-k8s.io/node": "fake" } as const;

/**
 * The annotation of a pod that shall run and never become ready, for tests of rollouts that fail. It counts at any time: a
 * pod that gets it is ready no longer, one that loses it becomes ready.
 */
export const notReadyAnnotation = { "kwok.denrei.dev/not-ready": "true" } as const;

/** What becomes of nodes and pods. */
const stagesPath = fileURLToPath(new URL("./stages.yaml", import.meta.url));

/** What kwok's user has to be allowed. */
export const kwokRules: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] },
  { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch", "delete"] },
  { apiGroups: [""], resources: ["nodes/status", "pods/status"], verbs: ["patch"] },
];

/** Starts it and waits until it answers. */
export function startKwok(run: Run, options: KwokOptions): Promise<Child> {
  return withFreePorts(1, async ([port]) => {
    const [[annotation, value] = []] = Object.entries(kwokNodeAnnotation);
    const child = run.child({
      name: "kwok",
      command: options.binary,
      args: [
        `--kubeconfig=${options.kubeconfigPath}`,
        `--config=${stagesPath}`,
        `--manage-nodes-with-annotation-selector=${annotation}=${value}`,
        // Without the node lifecycle controller nobody looks at leases, and each is a write every ten seconds.
        "--node-lease-duration-seconds=0",
        "--cidr=10.244.0.0/16",
        `--server-address=127.0.0.1:${port}`,
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
