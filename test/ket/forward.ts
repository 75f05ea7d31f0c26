/** Forwards local ports to a cluster with `kubectl port-forward`. */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, type LocalProcesses } from "@denrei/cli/local/index";

/** A port of a resource in the cluster. */
export interface ForwardTarget {
  /** Defaults to the namespace of the run. */
  readonly namespace?: string | undefined;
  /** In kubectl's notation: `service/denrei-gateway`, `deployment/denrei-hikawa`, or the name of a pod. */
  readonly resource: string;
  readonly port: number;
}

/** A forwarded port. */
export interface Forward {
  /** On 127.0.0.1. It stays the same across reconnects, such as after a pod was replaced. */
  readonly port: number;
  stop(): Promise<void>;
}

/** Options of a forwarded port. */
export interface ForwardOptions extends Required<Pick<ForwardTarget, "resource" | "port">> {
  readonly processes: LocalProcesses;
  readonly kubectl: string;
  readonly kubeconfigPath: string;
  readonly context: string;
  readonly namespace: string;
  /** Aborts when the run ends. */
  readonly signal: AbortSignal;
}

const retryMillis = 200;

/** Forwards a port. Resolves when it accepts connections; throws with the last output of kubectl otherwise. */
export async function forward(options: ForwardOptions): Promise<Forward> {
  const { processes, kubectl, kubeconfigPath, context, namespace, resource, port: remote, signal } = options;
  const port = await freePort();
  const child = processes.prepare({
    name: `port-forward-${port}`,
    command: kubectl,
    args: [
      ...["--kubeconfig", kubeconfigPath, "--context", context, "--namespace", namespace],
      ...["port-forward", "--address", "127.0.0.1", resource, `${port}:${remote}`],
    ],
    ready: () => accepts(port),
  });
  await child.start();
  const stopping = new AbortController();
  const over = AbortSignal.any([stopping.signal, signal]);
  // kubectl ends with the pod.
  const again = async (): Promise<void> => {
    while (!over.aborted) {
      await child.exited();
      await sleep(retryMillis, undefined, { signal: over }).catch(() => undefined);
      if (!over.aborted) await child.start(over).catch(() => undefined);
    }
  };
  const going = again();
  return {
    port,
    async stop() {
      stopping.abort();
      await child.stop();
      await going;
    },
  };
}

async function accepts(port: number): Promise<void> {
  const socket = connect({ host: "127.0.0.1", port });
  try {
    await once(socket, "connect");
  } finally {
    socket.destroy();
  }
}
