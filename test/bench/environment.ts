/** The environment of both contenders: one control plane and one bus for the whole benchmark, emptied between rounds. */

import { type KubeClient, kubeClient, resourcePath } from "../../bus/kube/client.ts";
import { type KubeConnection, loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { installCrds } from "../../bus/kube/install.ts";
import { externalKind } from "../../bus/kube/kind.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import type { Role } from "../../bus/permissions.ts";
import { inOneAccount } from "../../deploy/authorization.ts";
import { progressDisplay } from "../../deploy/environment/progress.ts";
import { crdManifests } from "../../deploy/generate/crds.ts";
import {
  describeExit,
  type LocalPlatform,
  projectRoles,
  startLocalPlatform,
} from "../../deploy/local/index.ts";
import { functions } from "../../functions/index.ts";
import { Hikawa, Kiyoshi, Zundoko } from "../../functions/zundoko/kinds.ts";
import type { Pids } from "./processes.ts";
import { queueRole } from "./queueplan.ts";

/** The shared environment of a run. */
export interface BenchEnvironment {
  readonly platform: LocalPlatform;
  readonly client: KubeClient;
  readonly bus: Bus;
  readonly namespace: string;
  /** Aborts when the user or a failure ends the run. */
  readonly signal: AbortSignal;
  /** Rejects when {@link BenchEnvironment.signal} aborts, to race with calls that take no signal. */
  readonly aborted: Promise<never>;
  /** Ends the run because of an error outside any awaited call. */
  fail(error: Error): void;
  /** kube-apiserver and etcd. */
  servers(): Pids;
  /** Deletes every object of a round. Controllers may run. */
  clearObjects(): Promise<void>;
  /** Deletes all data of the bus. No process may use it. */
  clearBus(): Promise<void>;
  stop(): Promise<void>;
}

const namespace = "bench";
const Namespace = externalKind({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster",
});
const Event = externalKind({ group: "events.k8s.io", version: "v1", kind: "Event", plural: "events" });
/** Deleted per call, so that no call takes minutes. */
const deletedAtOnce = 1000;

/** Whether each role has a separate account on the bus, as when deployed, or all share one. */
export type Accounts = "own" | "one";

/** The roles in these accounts. */
export const inAccounts = (accounts: Accounts, roles: readonly Role[]): readonly Role[] =>
  accounts === "one" ? inOneAccount(roles) : roles;

/** Starts the platform and installs the kinds. */
export async function openBenchEnvironment(
  stopping: AbortController,
  accounts: Accounts = "own",
): Promise<BenchEnvironment> {
  const { signal } = stopping;
  const fail = (error: Error): void => stopping.abort(error);
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });
  aborted.catch(() => undefined);
  const display = progressDisplay(process.stdout);
  const platform = await startLocalPlatform({
    roles: inAccounts(accounts, [...(await projectRoles()), queueRole]),
    // The benchmark needs no garbage collection, whose work would be noise in the API server's figures.
    controllerManager: "omit",
    signal,
    onProgress: (step) => display.show(step),
    onUnexpectedExit: (part, exit) => fail(new Error(`${part} ${describeExit(exit)}`)),
  }).finally(() => display.done());
  let connection: KubeConnection | undefined;
  let bus: Bus | undefined;
  const stop = async (): Promise<void> => {
    await bus?.nc.close();
    await platform.stop();
    await connection?.close();
  };
  try {
    connection = await openConnection(loadKubeconfig({ path: platform.kubeconfigPath }));
    const client = kubeClient(connection);
    await installCrds(client, crdManifests(functions), { fieldManager: "denrei-bench", signal });
    await client.create(
      Namespace,
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace }, spec: {} },
      { fieldManager: "denrei-bench", signal },
    );
    const opened = await connectBus({ url: platform.natsUrl, name: "denrei-bench" });
    bus = opened;
    return {
      platform,
      client,
      bus: opened,
      namespace,
      signal,
      aborted,
      fail,
      servers: () =>
        new Map([
          ["kube-apiserver", platform.apiserver.pid ?? 0],
          ["etcd", platform.etcd.pid ?? 0],
        ]),
      async clearObjects() {
        const kinds = [Hikawa, Zundoko, Kiyoshi, Event].map((kind) => resourcePath(kind, namespace));
        await Promise.all(kinds.map((path) => clearCollection(client, path, signal)));
      },
      clearBus: () => deleteStreams(opened),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function clearCollection(client: KubeClient, path: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const query = { limit: 1 };
    const { items } = await client.request<{ items: unknown[] }>({ method: "GET", path, query, signal });
    if (items.length === 0) return;
    await client.request({ method: "DELETE", path, query: { limit: deletedAtOnce }, signal });
  }
}

/** Deletes every stream of a bus. */
export async function deleteStreams({ jsm }: Bus): Promise<void> {
  const names: string[] = [];
  for await (const { config } of jsm.streams.list()) names.push(config.name);
  for (const name of names) await jsm.streams.delete(name);
}
