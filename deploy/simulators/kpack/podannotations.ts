/** Annotations of an Image that control its simulated build pods. kpack copies them to the Build and its Pod. */
import type { Pod } from "./kinds.ts";

/** Duration of each step, in milliseconds. */
export const stepMillisAnnotation = "sim.kpk/step-ms";
/** Name of the step that ends with exit code 1. */
export const failStep = "sim.kpk/fail-step";
/** Name of the step that does not end until the annotation is removed from the Pod. */
export const holdStep = "sim.kpk/hold-step";
/** The pod fails in its second step with this reason: `Evicted` or `DeadlineExceeded`. */
export const evict = "sim.kpk/evict";
/** The build succeeds, but its metadata cannot be decoded. */
export const badMetadata = "sim.kpk/bad-metadata";

/** The value of the pod's annotation. */
export const annotationOf = ({ metadata }: Pod, annotation: string): string | undefined =>
  metadata.annotations?.[annotation];

/** The message for an eviction reason. */
export const evictionMessage = (reason: string): string =>
  reason === "Evicted"
    ? "The node was low on resource: memory. Threshold quantity: 100Mi, available: 12Mi."
    : reason === "DeadlineExceeded"
      ? "Pod was active on the node longer than the specified deadline"
      : `Pod ended: ${reason}`;
