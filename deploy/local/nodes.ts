/** Simulated nodes: kube-scheduler assigns pods to them, and kwok reports the pods running. */
import { apiVersionOf, type Condition, externalKind, type KubeObject } from "denrei/kinds";
import { connectCluster, type KubeClient, resourcePath } from "denrei/kubernetes";
import { type Kwok, type KwokOptions, kwokNodeAnnotation, kwokRules, startKwok } from "./parts/kwok.ts";
import { type PartObserver, startObserved } from "./parts/part.ts";
import { startScheduler } from "./parts/scheduler.ts";
import type { Child } from "./run/child.ts";
import { poll } from "./run/poll.ts";
import type { Run } from "./run/run.ts";

/** The number of nodes, and the paths of the programs that simulate them. */
export interface NodesSpec {
  readonly count: number;
  readonly scheduler: string;
  readonly kwok: string;
}

/** What nodes need from the control plane. */
export interface NodesEnvironment extends Pick<KwokOptions, "files" | "trust"> {
  /** An administrator's kubeconfig. */
  readonly kubeconfigPath: string;
  writeKubeconfig(file: string, user: string): Promise<string>;
}

/** The programs that simulate the nodes. */
export interface NodeParts {
  readonly scheduler: Child;
  readonly kwok: Kwok;
}

/** The fields of a Node that this module reads. */
export const Node = externalKind<KubeObject<object, { conditions?: Condition[] }>>({
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  scope: "Cluster",
});

const rbac = { group: "rbac.authorization.k8s.io", version: "v1", scope: "Cluster" } as const;
const ClusterRole = externalKind({ ...rbac, kind: "ClusterRole", plural: "clusterroles" });
const ClusterRoleBinding = externalKind({
  ...rbac,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
});

const kwokUser = "kwok";
const fieldManager = "denrei-local";

/** Starts both programs, creates the nodes `node-1`, `node-2`, and so on, and waits until they are ready. */
export async function startNodes(
  run: Run,
  spec: NodesSpec,
  { kubeconfigPath, writeKubeconfig, ...access }: NodesEnvironment,
  observer: PartObserver,
): Promise<NodeParts> {
  const client = await connectCluster({ path: kubeconfigPath });
  try {
    await allowKwok(client, observer.signal);
    const [schedulerConfig, kwokConfig] = await Promise.all([
      writeKubeconfig("scheduler.kubeconfig", "system:kube-scheduler"),
      writeKubeconfig("kwok.kubeconfig", kwokUser),
    ]);
    const [scheduler, kwok] = await Promise.all([
      startObserved("kube-scheduler", spec.scheduler, observer, (options) =>
        startScheduler(run, { ...options, ...access, kubeconfigPath: schedulerConfig }),
      ),
      startObserved("kwok", spec.kwok, observer, async (options) => {
        const child = await startKwok(run, { ...options, ...access, kubeconfigPath: kwokConfig });
        await createNodes(client, spec.count, options.signal);
        return child;
      }),
    ]);
    return { scheduler, kwok };
  } finally {
    await client.connection.close();
  }
}

async function allowKwok(client: KubeClient, signal: AbortSignal | undefined): Promise<void> {
  const apiVersion = apiVersionOf(ClusterRole);
  const metadata = { name: kwokUser };
  const role = { apiVersion, kind: "ClusterRole", metadata, rules: kwokRules };
  const binding = {
    apiVersion,
    kind: "ClusterRoleBinding",
    metadata,
    roleRef: { apiGroup: rbac.group, kind: "ClusterRole", name: kwokUser },
    subjects: [{ apiGroup: rbac.group, kind: "User", name: kwokUser }],
  };
  for (const [kind, body] of [
    [ClusterRole, role],
    [ClusterRoleBinding, binding],
  ] as const) {
    await client.request({ method: "POST", path: resourcePath(kind), query: { fieldManager }, body, signal });
  }
}

async function createNodes(
  client: KubeClient,
  count: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `node-${index + 1}`);
  const nodes = names.map((name) => {
    const labels = { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" };
    const metadata = { name, labels, annotations: kwokNodeAnnotation };
    return { apiVersion: "v1", kind: "Node", metadata, spec: {} };
  });
  await Promise.all(nodes.map((node) => client.create(Node, node, { fieldManager, signal })));
  const probe = () => expectReady(client, names, signal);
  await poll("all nodes to be ready", probe, { timeoutMillis: 30_000, signal });
}

async function expectReady(
  client: KubeClient,
  names: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { items } = await client.list(Node, undefined, undefined, signal);
  const ready = items.filter(({ status }) =>
    status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True"),
  );
  const missing = names.filter((name) => !ready.some(({ metadata }) => metadata.name === name));
  if (missing.length > 0) throw new Error(`not ready: ${missing.join(", ")}`);
}
