/** The state of a pod in a word. */
import type { PodObject } from "../api/kubernetes.ts";
import { humanize, type Tone } from "./health.ts";
import { podStateText as text } from "./object/text.ts";

/** The state of a pod. Container errors take precedence over the phase. */
export function podState({ metadata, status }: PodObject): readonly [Tone, string] {
  if (metadata.deletionTimestamp !== undefined) return ["busy", text.deleting];
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const waiting = containers.find(
    ({ state }) => state?.waiting?.reason && !/Initializing|Creating/.test(state.waiting.reason),
  );
  if (waiting) return ["bad", humanize(waiting.state?.waiting?.reason ?? "")];
  const failed = containers.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  if (failed) return ["bad", humanize(failed.state?.terminated?.reason ?? "Failed")];
  const phase = status?.phase ?? "Pending";
  if (phase === "Failed") return ["bad", humanize(status?.reason ?? phase)];
  if (phase === "Succeeded") return ["off", text.succeeded];
  if (phase !== "Running") return ["busy", phase];
  return status?.containerStatuses?.every(({ ready }) => ready)
    ? ["good", text.running]
    : ["busy", text.notReady];
}
