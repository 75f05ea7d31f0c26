/** Why a build has no pod to show. Pure. */
import type { Build } from "@denrei/functions/paas/kinds/kpack";
import { withoutPodText as text } from "./text.ts";

/** The state of the list of pods: a part of `Watched`. */
interface PodList {
  readonly state: "loading" | "live" | "refused" | "away";
  readonly asOf?: number | undefined;
}

/** Only a current list proves that the pod no longer exists. */
export function withoutPod({ status }: Pick<Build, "status">, { state, asOf }: PodList): string {
  if (state === "refused") return text.forbidden;
  if (status?.podName === undefined) return text.notCreated;
  if (state !== "live") return asOf === undefined && state === "loading" ? text.loading : text.unknown;
  const steps = status.stepsCompleted ?? [];
  return steps.length === 0 ? text.gone : `${text.gone} ${text.completed(steps)}`;
}
