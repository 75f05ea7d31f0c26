/** How many workers a function has, by what waits for it (KEDA) or by how busy they are (HorizontalPodAutoscaler). */
import { busAccount } from "../../bus/nats/identity.ts";
import { consumersOf } from "../../bus/permissions.ts";
import { workStream } from "../../bus/subjects.ts";
import { interestsOf, type ReconcileFunction } from "../../bus/worker/function.ts";
import { labelsOf, workloadName } from "./rbac.ts";

type Manifest = Record<string, unknown>;

/** The TriggerAuthentication that tells KEDA where the monitoring port of the bus is. */
export const busMonitorName = "denrei-bus-monitor";

const maxReplicas = 10;

/** Routing an event takes a fraction of a millisecond: so many waiting ones are worth another worker. */
const routedPerReplica = 1000;

/** Seconds that a function without workers sleeps on after it has something to do, at most. */
const pollingSeconds = 10;

/** Looks in a row that may fail before a function counts as having something to do: a minute's, with {@link pollingSeconds}. */
const failedLooks = 5;

const target = (fn: Pick<ReconcileFunction, "name">) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  name: workloadName(fn),
});

const metadataOf = (fn: Pick<ReconcileFunction, "name">, namespace: string) => ({
  name: workloadName(fn),
  namespace,
  labels: labelsOf(workloadName(fn)),
});

/**
 * From no worker to many, by the lag of each consumer that the workers serve: with no worker nobody routes events or takes
 * timers to the work queue, so the queue alone would never wake a function. Whoever is in the middle of something is counted
 * (`num_ack_pending`), so nobody is stopped at work.
 * https://keda.sh/docs/latest/scalers/nats-jetstream/
 */
export function scaledObject(
  fn: ReconcileFunction,
  { cluster, namespace }: { readonly cluster: string; readonly namespace: string },
): Manifest {
  return {
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata: metadataOf(fn, namespace),
    spec: {
      scaleTargetRef: target(fn),
      pollingInterval: pollingSeconds,
      minReplicaCount: 0,
      maxReplicaCount: maxReplicas,
      // While one server of a cluster is away KEDA may find no consumer's leader. What it can not see is done all the same: by
      // a worker that may have come for nothing, and by as many as there are.
      fallback: { failureThreshold: failedLooks, replicas: 1, behavior: "currentReplicasIfHigher" },
      triggers: interestsOf([fn], cluster)
        .flatMap(consumersOf)
        .map(([stream, consumer]) => ({
          type: "nats-jetstream",
          metadata: {
            account: busAccount,
            stream,
            consumer,
            // As many as one worker reconciles at once.
            lagThreshold: String(stream === workStream(fn.name) ? fn.concurrency : routedPerReplica),
            activationLagThreshold: "0",
          },
          authenticationRef: { name: busMonitorName },
        })),
    },
  };
}

/** From two workers to many, by their CPU: for clusters without KEDA. */
export const horizontalAutoscaler = (
  fn: Pick<ReconcileFunction, "name">,
  { namespace }: { readonly namespace: string },
): Manifest => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: metadataOf(fn, namespace),
  spec: {
    scaleTargetRef: target(fn),
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
