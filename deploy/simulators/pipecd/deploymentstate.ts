/** Reads the state of a PipeCD Deployment: its version, its pod template, and its running pods. */
import { isV1, profileOf } from "@denrei/functions/pipecd/profile";
import type { Deployment, Stored } from "denrei/kinds";

/** The running pods of a Deployment: none, those of an earlier template, both, or only those of the current template. */
export type Running = "none" | "former" | "both" | "current";

/** The running pods of a Deployment, from its status. */
export function runningOf({ metadata, status = {} }: Stored<Deployment>): Running {
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  if (metadata.deletionTimestamp || availableReplicas === 0) return "none";
  const formerReplicas = replicas - updatedReplicas;
  if (observedGeneration < (metadata.generation ?? 0) || availableReplicas <= formerReplicas) return "former";
  return formerReplicas > 0 ? "both" : "current";
}

/** Identifies the pod template of a Deployment. */
export const templateOf = ({ metadata, spec }: Stored<Deployment>): string =>
  `${metadata.uid} ${JSON.stringify(spec.template)}`;

/** Whether the Deployment's pods sleep in a preStop hook. */
export const lingers = ({ spec }: Stored<Deployment>): boolean =>
  spec.template?.spec?.containers?.some((container) => "lifecycle" in container) ?? false;

const imageOf = ({ spec }: Stored<Deployment>): string => spec.template?.spec?.containers?.[0]?.image ?? "";

/** The version in an image's tag. */
export const versionOfImage = (image: string): string => image.split(":").at(-1) ?? "";

/** The profile of a Deployment's image. */
export const profileIn = (deployment: Stored<Deployment>) => profileOfImage(imageOf(deployment));

/** The profile of an image. Throws for an unknown version. */
export function profileOfImage(image: string): "C" | "L0" {
  const version = versionOfImage(image);
  if (isV1(version)) return "C";
  const found = profileOf(version);
  if (found.problem !== undefined) throw new Error(found.problem);
  return found.profile;
}
