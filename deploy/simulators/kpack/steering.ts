/**
 * How the pods of the stand-in for kpack v0.17.2 are told what to play: annotations of the Image, which kpack copies to the Build and
 * its Pod.
 */
import type { Pod } from "./kinds.ts";

/** How long each step takes, in milliseconds. */
export const stepMillisAnnotation = "sim.kpk/step-ms";
/** This step ends with exit code 1. */
export const failStep = "sim.kpk/fail-step";
/** This step does not end until the annotation is taken away from the Pod. */
export const holdStep = "sim.kpk/hold-step";
/** The pod ends in its second step, with this reason: `Evicted`, `DeadlineExceeded`. */
export const evict = "sim.kpk/evict";
/** The build ends well, but nobody can read what it has built. */
export const badMetadata = "sim.kpk/bad-metadata";

/** What the pod's annotation says. */
export const steered = ({ metadata }: Pod, annotation: string): string | undefined =>
  metadata.annotations?.[annotation];

/** What an eviction says of itself; any other reason is a message of its own. */
export const evictionMessage = (reason: string): string =>
  reason === "Evicted"
    ? "The node was low on resource: memory. Threshold quantity: 100Mi, available: 12Mi."
    : reason === "DeadlineExceeded"
      ? "Pod was active on the node longer than the specified deadline"
      : `The pod was ended: ${reason}`;
