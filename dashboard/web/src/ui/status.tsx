/** How something is, in a word. */
import type { ComponentChildren } from "preact";
import type { Condition, KubeObject } from "../../../../bus/kube/object.ts";

/** `good`: as it should be; `busy`: on its way; `bad`: somebody has to act; `off`: nothing is to be said. */
export type Tone = "good" | "busy" | "bad" | "off";

/** A word with a shape and a colour. */
export function Status({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`status ${tone}`}>{children}</span>;
}

/** The conditions of an object. */
export const conditionsOf = (object: KubeObject): readonly Condition[] =>
  (object.status as { conditions?: readonly Condition[] } | undefined)?.conditions ?? [];

/** What an object says of itself as a whole, by the conventions of kstatus: going, stalled, ready, or on its way. */
export function Health({ of: object }: { of: KubeObject }) {
  const [tone, word] = healthOf(object);
  return <Status tone={tone}>{word}</Status>;
}

/** The tone and the word of an object's health. */
export function healthOf(object: KubeObject): readonly [Tone, string] {
  if (object.metadata.deletionTimestamp !== undefined) return ["busy", "Going"];
  const conditions = conditionsOf(object);
  const of = (type: string) => conditions.find((condition) => condition.type === type);
  if (of("Stalled")?.status === "True") return ["bad", "Stalled"];
  const ready = of("Ready");
  if (ready === undefined) return ["off", "Waiting"];
  if (ready.status === "True") return ["good", "Ready"];
  if (ready.reason === "Paused") return ["off", "Paused"];
  const isTrouble = ready.status === "False" && !isUnderWay(ready.reason);
  return [isTrouble ? "bad" : "busy", spaced(ready.reason)];
}

/** Reasons by which something is not ready yet and nobody has to act: a `Progressing` that fails gets another one. */
const isUnderWay = (reason: string): boolean =>
  /(ing|NotReady|NotStarted|NotListed)$|^(Queued|Pending|MergeabilityUnknown)$/.test(reason);

/** `RolloutFailed` as people write it: `Rollout failed`. */
export function spaced(reason: string): string {
  const words = reason.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").split(" ");
  return words.map((word, at) => (at === 0 || /^[A-Z]{2,}/.test(word) ? word : word.toLowerCase())).join(" ");
}
