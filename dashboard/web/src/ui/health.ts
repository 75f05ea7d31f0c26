/**
 * What an object says of itself as a whole, by the conventions of kstatus: going, being looked at, stalled, ready, or on its way.
 * https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md
 */
import type { Condition, KubeObject } from "../../../../bus/kube/object.ts";

/** `good`: as it should be; `busy`: on its way; `bad`: somebody has to act; `off`: nothing is to be said. */
export type Tone = "good" | "busy" | "bad" | "off";

interface Conditioned {
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
}

/** The conditions of an object. */
export const conditionsOf = (object: KubeObject): readonly Condition[] =>
  (object.status as Conditioned | undefined)?.conditions ?? [];

/** The tone and the word of an object's health. */
export function healthOf(object: KubeObject): readonly [Tone, string] {
  const { metadata, status } = object;
  if (metadata.deletionTimestamp !== undefined) return ["busy", "Going"];
  const of = (type: string) => conditionsOf(object).find((condition) => condition.type === type);
  if (of("Stalled")?.status === "True") return ["bad", "Stalled"];
  const ready = of("Ready");
  if (ready === undefined) return ["off", "Waiting"];
  const seen = (status as Conditioned | undefined)?.observedGeneration ?? ready.observedGeneration;
  // What is said is of another specification than this one.
  if (seen !== undefined && metadata.generation !== undefined && seen < metadata.generation)
    return ["busy", "Changing"];
  if (ready.status === "True") return ["good", "Ready"];
  if (ready.reason === "Paused") return ["off", "Paused"];
  const isTrouble = ready.status === "False" && !isUnderWay(ready.reason);
  return [isTrouble ? "bad" : "busy", spaced(ready.reason)];
}

/** Reasons by which something is not ready yet and nobody has to act: a `Progressing` that fails gets another one. */
export const isUnderWay = (reason: string): boolean =>
  /(ing|NotReady|NotStarted|NotListed)$|^(Queued|Pending|MergeabilityUnknown)$/.test(reason);

/** `RolloutFailed` as people write it: `Rollout failed`. */
export function spaced(reason: string): string {
  const words = reason
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll("Git Hub", "GitHub")
    .split(" ");
  return words.map((word, at) => (at === 0 || isName(word) ? word : word.toLowerCase())).join(" ");
}

const isName = (word: string): boolean => /^[A-Z]{2,}/.test(word) || word === "GitHub";
