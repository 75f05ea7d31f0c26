/**
 * Readiness of objects of listed kinds, by the conventions that most controllers follow. Pure.
 * https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md
 */
import type { Stored } from "denrei";
import { childKinds } from "../charts/kinds.ts";
import { kindOf } from "./inventory.ts";

/** Why an object is not ready. */
export interface Unready {
  readonly state: "progressing" | "failed";
  readonly message: string;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

interface Status {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly phase?: string;
  readonly readyReplicas?: number;
  readonly updatedReplicas?: number;
  readonly desiredNumberScheduled?: number;
  readonly numberReady?: number;
  readonly updatedNumberScheduled?: number;
}

type Read = (status: Status, spec: Readonly<Record<string, unknown>>) => Unready | undefined;

const progressing = (message: string): Unready => ({ state: "progressing", message });
const some = (ready: number, desired: number): Unready | undefined =>
  ready < desired ? progressing(`${ready} of ${desired} pods are ready`) : undefined;

/** Kubernetes kinds with specific readiness rules. */
const ownWays: Readonly<Record<string, Read>> = {
  "v1 PersistentVolumeClaim": ({ phase = "Pending" }) =>
    phase === "Lost"
      ? { state: "failed", message: "its volume is lost" }
      : phase === "Bound"
        ? undefined
        : progressing(`it is ${phase}, not Bound`),
  "apps/v1 StatefulSet": ({ readyReplicas = 0, updatedReplicas = 0 }, { replicas = 1, updateStrategy }) =>
    some(
      (updateStrategy as { type?: string } | undefined)?.type === "OnDelete"
        ? readyReplicas
        : Math.min(readyReplicas, updatedReplicas),
      Number(replicas),
    ),
  "apps/v1 DaemonSet": ({ desiredNumberScheduled = 0, numberReady = 0, updatedNumberScheduled = 0 }) =>
    some(Math.min(numberReady, updatedNumberScheduled), desiredNumberScheduled),
};

/** Why an object is not ready; undefined when it is ready or does not report readiness. */
export function unreadyOf(object: Stored): Unready | undefined {
  const { metadata } = object;
  const status = (object.status ?? {}) as Status;
  const spec = (object.spec ?? {}) as Readonly<Record<string, unknown>>;
  const { generation = 0, deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined) return progressing("it is being deleted");
  if (status.observedGeneration !== undefined && status.observedGeneration < generation)
    return progressing("its controller has not observed the last change yet");
  const current = (status.conditions ?? []).filter(
    ({ observedGeneration = generation }) => observedGeneration >= generation,
  );
  const find = (type: string) => current.find((condition) => condition.type === type);
  // A failed Job has the condition Failed, besides others.
  for (const type of ["Stalled", ...(object.kind === "Job" ? ["Failed"] : [])]) {
    const failed = find(type);
    if (failed?.status === "True") return { state: "failed", message: textOf(failed) };
  }
  const reconciling = find("Reconciling");
  if (reconciling?.status === "True") return progressing(textOf(reconciling));
  const own = ownWays[`${object.apiVersion} ${object.kind}`];
  if (own !== undefined) return own(status, spec);
  const ready = find("Ready");
  return ready && ready.status !== "True" ? progressing(textOf(ready)) : undefined;
}

const textOf = ({ type, status, reason, message }: Condition): string =>
  `${type} is ${status}${reason ? ` (${reason})` : ""}${message ? `: ${message}` : ""}`;

/** The first failed object of a listed kind or, without one, the first that is not ready. */
export function unreadyChild(children: readonly Stored[]): Unready | undefined {
  const unready = children.flatMap((child) => {
    if (kindOf(child, childKinds) !== undefined) return [];
    const found = unreadyOf(child);
    return found ? [{ ...found, message: `the ${child.kind} ${child.metadata.name}: ${found.message}` }] : [];
  });
  return unready.find(({ state }) => state === "failed") ?? unready[0];
}
