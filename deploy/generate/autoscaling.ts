/** Scales workers by the backlog of their functions (KEDA) or by their CPU usage (HorizontalPodAutoscaler). */
import { busAccount, consumersOf, workStream } from "denrei/bus";
import { subscriptionsOf } from "denrei/runtime";
import type { WorkerSet } from "./layout.ts";
import { labelsOf, workloadName } from "./rbac.ts";

type Manifest = Record<string, unknown>;

/** The TriggerAuthentication with the monitoring endpoint of the bus, for KEDA. */
export const busMonitorName = "denrei-bus-monitor";

const maxReplicas = 10;

/** Routing an event takes a fraction of a millisecond, so only this many waiting events justify another worker. */
const eventsPerReplica = 1000;

/** Interval at which KEDA polls the triggers of a function without workers, in seconds. */
const pollingSeconds = 10;

/** Consecutive failed polls after which KEDA uses the fallback: one minute, with {@link pollingSeconds}. */
const failedPolls = 5;

const target = (set: WorkerSet) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  name: workloadName(set),
});

const metadataOf = (set: WorkerSet, namespace: string) => ({
  name: workloadName(set),
  namespace,
  labels: labelsOf(workloadName(set)),
});

/**
 * Scales from zero by the lag of every consumer that the workers serve. The lag of the work queue is not enough: without a
 * worker, no process routes events or moves due timers into the queue. The lag includes messages in progress
 * (`num_ack_pending`), so KEDA does not stop a busy worker.
 * https://keda.sh/docs/latest/scalers/nats-jetstream/
 */
export function scaledObject(
  set: WorkerSet,
  { cluster, namespace }: { readonly cluster: string; readonly namespace: string },
): Manifest {
  const concurrency = new Map(set.functions.map((fn) => [workStream(fn.name), fn.concurrency]));
  return {
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata: metadataOf(set, namespace),
    spec: {
      scaleTargetRef: target(set),
      pollingInterval: pollingSeconds,
      minReplicaCount: 0,
      maxReplicaCount: maxReplicas,
      // When a server of a cluster is down, KEDA may not find the leader of any consumer. Until it does, one worker, or as
      // many as already run, serve the function, even if there is nothing to do.
      fallback: { failureThreshold: failedPolls, replicas: 1, behavior: "currentReplicasIfHigher" },
      triggers: subscriptionsOf(set.functions, cluster)
        .flatMap(consumersOf)
        .map(([stream, consumer]) => ({
          type: "nats-jetstream",
          metadata: {
            account: busAccount,
            stream,
            consumer,
            // The number of objects that one worker reconciles concurrently.
            lagThreshold: String(concurrency.get(stream) ?? eventsPerReplica),
            activationLagThreshold: "0",
          },
          authenticationRef: { name: busMonitorName },
        })),
    },
  };
}

/** Scales from two workers up by their CPU usage, for clusters without KEDA. */
export const horizontalAutoscaler = (
  set: WorkerSet,
  { namespace }: { readonly namespace: string },
): Manifest => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: metadataOf(set, namespace),
  spec: {
    scaleTargetRef: target(set),
    minReplicas: 2,
    maxReplicas,
    metrics: [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
      },
    ],
  },
});
