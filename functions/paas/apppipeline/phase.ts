/** How far a preview is, from what its objects say. Pure. */
import type { Condition, KubeObject } from "../../../bus/kube/object.ts";
import type { Application } from "../kinds/application.ts";
import type { Preview } from "../kinds/apppipeline.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";

/** A phase, and what there is to say about it. */
export type Phase = Pick<Preview, "phase" | "message">;

const conditionOf = (object: KubeObject | undefined, type: string): Condition | undefined =>
  (object as KubeObject<unknown, { conditions?: Condition[] }> | undefined)?.status?.conditions?.find(
    (condition) => condition.type === type,
  );

/** Reasons for an Application not to be ready that pass by themselves. */
const passing: ReadonlySet<string> = new Set(["Progressing"]);

/** How far the objects are. */
export function phaseOf(application: Application | undefined, remoteSync: RemoteSync | undefined): Phase {
  for (const type of ["SourceResolved", "Built", "Deployed"]) {
    const { status, reason, message = "" } = conditionOf(remoteSync, type) ?? {};
    if (status === "True") continue;
    if (status === "False") return { phase: "Failed", message };
    if (type === "SourceResolved") return { phase: "Resolving", ...(reason && { message }) };
    return { phase: "Building" };
  }
  const { status, reason = "", message = "" } = conditionOf(application, "Ready") ?? {};
  if (status === "True") return { phase: "Ready" };
  if (status === "False" && !passing.has(reason)) return { phase: "Failed", message };
  return { phase: "Deploying" };
}
