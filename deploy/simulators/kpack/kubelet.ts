/**
 * The simulated node of kpack's build pods: the Node object, and a kubelet without containers. Not simulated: probes,
 * resources, deadlines, images, and restarts.
 */
import { controllerOf, type Stored } from "denrei/kinds";
import { isConflict, isNotFound, type KubeClient, resourcePath } from "denrei/kubernetes";
import { atKey, type Informer, keyOf } from "./informer.ts";
import { type Build, type Builder, Node, Pod } from "./kinds.ts";
import { annotationOf, holdStep, stepMillisAnnotation } from "./podannotations.ts";
import type { PodLogs } from "./podlogs.ts";
import { builtBy, type NextStep, nextStep } from "./podstatus.ts";

/** The node's name. */
export const nodeName = "kpack-builds";

/** Which steps the kubelet writes to a pod's status. A pod that sets the duration of its steps always gets all of them. */
export type Steps = "each" | "first and last";

/** Dependencies of the kubelet. */
export interface KubeletOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly pods: Informer<Pod>;
  readonly builds: Informer<Build>;
  /** The current state of the builder that a Build was created with. */
  readonly builderOf: (build: Build) => Builder | undefined;
  readonly logs: PodLogs;
  readonly stepMillis: number;
  readonly steps: Steps;
  /** Enqueues the pod. */
  readonly add: (key: string) => void;
  /** Resolves when Build and Image have handled the pod's last change, so that each step is seen. */
  readonly caughtUp: (pod: Pod) => Promise<void>;
}

const fieldManager = "kubelet";

/** Creates or updates the Node; `port` serves the logs of its pods. */
export async function ensureNode(client: KubeClient, port: number, signal: AbortSignal): Promise<void> {
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: nodeName }, spec: {} };
  const options = { fieldManager, signal, force: "take-ownership" } as const;
  await client.apply(Node, node, options);
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  await client.apply(Node, { ...node, status }, { ...options, subresource: "status" });
}

/** Advances a pod by one step when that is due. */
export function kubelet(options: KubeletOptions): (key: string) => Promise<void> {
  const { client, signal, pods, logs } = options;
  /** When the running step may end, by the pod's key. */
  const due = new Map<string, { readonly uid: string; readonly step: string; readonly at: number }>();

  /** Whether the step has run long enough. Enqueues the pod for later if not. */
  function isDue(key: string, pod: Stored<Pod>, step: string): boolean {
    const { uid } = pod.metadata;
    const known = due.get(key);
    if (known?.uid === uid && known.step === step) return performance.now() >= known.at;
    const millis = Number(annotationOf(pod, stepMillisAnnotation) ?? options.stepMillis);
    due.set(key, { uid, step, at: performance.now() + millis });
    // Timers may fire up to a millisecond early.
    setTimeout(() => options.add(key), millis + 1).unref();
    return false;
  }

  async function write(pod: Stored<Pod>, taken: readonly NextStep[]): Promise<void> {
    const { namespace, name, uid } = pod.metadata;
    for (const { starts, ends } of taken) {
      if (ends) logs.ended(pod, ends);
      if (starts) logs.started(pod, starts);
    }
    const patch = { metadata: { uid }, status: taken.at(-1)?.status };
    pods.observe(
      await client.mergePatch(Pod, { namespace, name }, patch, {
        fieldManager,
        signal,
        subresource: "status",
      }),
    );
  }

  function built(pod: Stored<Pod>) {
    const owner = controllerOf(pod);
    const build = options.builds.get({ namespace: pod.metadata.namespace, name: owner?.name ?? "" });
    if (build === undefined || build.metadata.uid !== owner?.uid)
      throw new Error(`pod "${pod.metadata.name}": Build "${owner?.name}" not found`);
    return builtBy(build, options.builderOf(build));
  }

  async function step(key: string, pod: Stored<Pod>): Promise<void> {
    if (pod.metadata.deletionTimestamp) return remove(options, pod);
    await options.caughtUp(pod);
    if (pod.spec.nodeName === undefined) return bind(options, pod);
    const next = nextStep(pod, () => built(pod));
    if (next === undefined) return;
    if (next.ends && (!isDue(key, pod, next.ends) || annotationOf(pod, holdStep) === next.ends)) return;
    const skipsSteps = options.steps === "first and last" && !annotationOf(pod, stepMillisAnnotation);
    await write(pod, next.ends && skipsSteps ? remainingSteps(pod, next) : [next]);
  }

  /** The steps from `first` to the last one, or to the one before a held step. */
  function remainingSteps(pod: Stored<Pod>, first: NextStep): NextStep[] {
    const taken: NextStep[] = [];
    for (let next: NextStep | undefined = first; next !== undefined; ) {
      taken.push(next);
      const { status } = next;
      next = nextStep({ ...pod, status }, () => built(pod));
      if (next?.ends && annotationOf(pod, holdStep) === next.ends) break;
    }
    return taken;
  }

  return async (key) => {
    const pod = pods.get(atKey(key));
    if (pod === undefined) due.delete(key);
    if (pod === undefined || (pod.spec.nodeName !== undefined && pod.spec.nodeName !== nodeName)) return;
    try {
      await step(key, pod);
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  };
}

/** Deletes the pod without a grace period. */
async function remove({ client, signal }: KubeletOptions, { metadata }: Stored<Pod>): Promise<void> {
  await client.request({
    method: "DELETE",
    path: resourcePath(Pod, metadata.namespace, metadata.name),
    body: {
      apiVersion: "v1",
      kind: "DeleteOptions",
      gracePeriodSeconds: 0,
      preconditions: { uid: metadata.uid },
    },
    signal,
  });
}

/** Binds the pod to the node. */
async function bind({ client, signal, pods }: KubeletOptions, { metadata }: Stored<Pod>): Promise<void> {
  const { namespace = "", name, uid } = metadata;
  await client.request({
    method: "POST",
    path: resourcePath(Pod, namespace, name, "binding"),
    query: { fieldManager },
    body: {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { namespace, name, uid },
      target: { apiVersion: "v1", kind: "Node", name: nodeName },
    },
    signal,
  });
  pods.observe(await client.get(Pod, { namespace, name }, signal));
}

/** Key of a pod's Build. */
export const buildKeyOf = (pod: Pod): string =>
  keyOf({ namespace: pod.metadata.namespace, name: controllerOf(pod)?.name ?? "" });
