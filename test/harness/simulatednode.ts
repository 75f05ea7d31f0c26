/** A node whose kubelet serves logs only, with content that a test chooses. */
import { EventEmitter, once } from "node:events";
import { type KubeClient, resourcePath } from "../../bus/kube/client.ts";
import { apiVersionOf, externalKind, Pod } from "../../bus/kube/kind.ts";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";
import { poll } from "../../deploy/local/run/poll.ts";
import { type KubeletServer, startKubeletServer } from "../../deploy/simulators/kpack/kubeletserver.ts";
import type { ContainerLog, LogLine } from "../../deploy/simulators/kpack/podlogs.ts";

/** The log of one container. */
export interface SimulatedLog {
  /** Appends lines with this timestamp. */
  write(at: Date, ...texts: readonly string[]): void;
  /** Ends the container. */
  end(): Promise<void>;
  /** Starts the ended container again, at this time. Later lines are of its next run. */
  restart(at: Date): Promise<void>;
}

/** A node. */
export interface SimulatedNode {
  /** Creates a pod on the node, with one container of this name. */
  pod(
    namespace: string,
    name: string,
    container: string,
    labels?: Readonly<Record<string, string>>,
  ): Promise<SimulatedLog>;
  /** Stops the kubelet and closes all of its connections. */
  away(): Promise<void>;
  /** Starts it again on another port. */
  back(): Promise<void>;
  stop(): Promise<void>;
}

const Node = externalKind({ group: "", version: "v1", kind: "Node", plural: "nodes", scope: "Cluster" });
const nodeName = "played";
const options = { fieldManager: "test", force: "take-ownership" } as const;

class Log implements ContainerLog {
  readonly lines: LogLine[] = [];
  isOver = false;
  readonly #changed = new EventEmitter().setMaxListeners(0);

  changed(): void {
    this.#changed.emit("change");
  }

  async more(signal: AbortSignal): Promise<void> {
    await once(this.#changed, "change", { signal });
  }
}

/** Creates the node and starts its kubelet. */
export async function startSimulatedNode(client: KubeClient): Promise<SimulatedNode> {
  const keys = createCertificateAuthority("played").server(["127.0.0.1"]);
  const logs = new Map<string, Log>();
  let server: KubeletServer | undefined;

  async function back(): Promise<void> {
    server = await startKubeletServer(keys, (...at) => logs.get(at.join("/")) ?? "waiting");
    const node = { apiVersion: apiVersionOf(Node), kind: "Node", metadata: { name: nodeName }, spec: {} };
    await client.apply(Node, node, options);
    const status = {
      addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
      daemonEndpoints: { kubeletEndpoint: { Port: server.port } },
    };
    await client.apply(Node, { ...node, status }, { ...options, subresource: "status" });
  }

  async function away(): Promise<void> {
    await server?.stop();
    server = undefined;
  }

  await back();
  return {
    back,
    away,
    stop: away,
    async pod(namespace, name, container, labels = {}) {
      const log = new Log();
      logs.set(`${namespace}/${name}/${container}`, log);
      const create = () =>
        client.request({
          method: "POST",
          path: resourcePath(Pod, namespace),
          body: {
            metadata: { name, labels },
            spec: { nodeName, containers: [{ name: container, image: "none" }] },
          },
        });
      // With controllers running, the API server rejects pods until the namespace has its service account.
      await poll("the namespace to accept pods", create, { timeoutMillis: 60_000 });
      let restartCount = 0;
      const say = (state: object) =>
        client.mergePatch(
          Pod,
          { namespace, name },
          {
            status: {
              phase: "Running",
              containerStatuses: [
                { name: container, image: "none", imageID: "", ready: true, restartCount, state },
              ],
            },
          },
          { fieldManager: "test", subresource: "status" },
        );
      const startedAt = "2026-01-01T00:00:00Z";
      await say({ running: { startedAt } });
      return {
        write(at, ...texts) {
          log.lines.push(...texts.map((text) => ({ at, text })));
          log.changed();
        },
        async end() {
          await say({ terminated: { exitCode: 0, startedAt, finishedAt: startedAt } });
          log.isOver = true;
          log.changed();
        },
        async restart(at) {
          log.isOver = false;
          restartCount++;
          await say({ running: { startedAt: at.toISOString().replace(/\.\d+/, "") } });
        },
      };
    },
  };
}
