/**
 * An object's health from its conditions, by the conventions of kstatus.
 * https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md
 */
import type { Condition, KubeObject } from "denrei/kinds";
import { healthText as text } from "./text.ts";

/** `good`: healthy; `busy`: in progress; `bad`: needs a user's action; `off`: neutral. */
export type Tone = "good" | "busy" | "bad" | "off";

/** All tones, the most severe first. */
export const tones: readonly Tone[] = ["bad", "busy", "off", "good"];

/** The place of a tone in {@link tones}. */
export const severityOf = (tone: Tone): number => tones.indexOf(tone);

interface Conditioned {
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
}

/** The conditions of an object. */
export const conditionsOf = (object: KubeObject): readonly Condition[] =>
  (object.status as Conditioned | undefined)?.conditions ?? [];

/** The tone and label of an object's health. */
export function healthOf(object: KubeObject): readonly [Tone, string] {
  const { metadata, status } = object;
  if (metadata.deletionTimestamp !== undefined) return ["busy", text.deleting];
  const of = (type: string) => conditionsOf(object).find((condition) => condition.type === type);
  if (of("Stalled")?.status === "True") return ["bad", text.stalled];
  const ready = of("Ready");
  if (ready === undefined) return ["off", text.waiting];
  const seen = (status as Conditioned | undefined)?.observedGeneration ?? ready.observedGeneration;
  // The status describes an older generation.
  if (seen !== undefined && metadata.generation !== undefined && seen < metadata.generation)
    return ["busy", text.updating];
  if (ready.status === "True") return ["good", text.ready];
  if (ready.reason === "Paused") return ["off", text.paused];
  const isError = ready.status === "False" && !isInProgress(ready.reason);
  return [isError ? "bad" : "busy", humanize(ready.reason)];
}

/** Whether the reason means work in progress that needs no action. */
export const isInProgress = (reason: string): boolean =>
  /(ing|NotReady|NotStarted|NotListed)$|^(Queued|Pending|MergeabilityUnknown)$/.test(reason);

/** Turns `RolloutFailed` into `Rollout failed`. */
export function humanize(reason: string): string {
  const words = reason
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll("Git Hub", "GitHub")
    .split(" ");
  return words.map((word, at) => (at === 0 || isName(word) ? word : word.toLowerCase())).join(" ");
}

const isName = (word: string): boolean => /^[A-Z]{2,}/.test(word) || word === "GitHub";
