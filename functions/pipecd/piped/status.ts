/** What a piped says of itself. */
import type { ConditionUpdate } from "../../../bus/kube/conditions.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { rolloutOf } from "../../../bus/kube/rollout.ts";
import type { Deployment } from "../../../bus/kube/workloads.ts";
import type { Context, Result } from "../../../bus/worker/function.ts";
import { Piped } from "../kinds.ts";
import { ready, syncedNow, untilSync } from "../server/dependent.ts";
import { againMillis, type Known } from "./known.ts";

/** Writes it, and says when to look again. */
export async function report(
  {
    plane,
    registered,
    wanted,
    synced,
    deployment,
  }: Omit<Known, "profile"> & { readonly deployment: Stored<Deployment> | undefined },
  ctx: Context,
): Promise<Result> {
  const status = {
    pipedID: registered.id,
    ...(wanted.environmentID !== undefined && { environmentID: wanted.environmentID }),
    registered: wanted,
    connection: registered.connection,
    availableReplicas: deployment?.status?.availableReplicas ?? 0,
    ...(synced !== undefined && syncedNow(plane, synced)),
  };
  const message = `PipeCD knows it as ${registered.id}`;
  const written = await ctx.status(Piped, registered.piped, status, [
    { type: "Registered", status: "True", reason: "Registered", message },
    runsOf(deployment),
  ]);
  return { requeueAfter: untilSync(written.status ?? {}, ctx.now(), againMillis(written.status ?? {})) };
}

function runsOf(deployment: Stored<Deployment> | undefined): ConditionUpdate {
  if (deployment === undefined) return ready("False", "Progressing", "the Deployment is yet to be made");
  const { state, reason, message } = rolloutOf(deployment);
  if (state !== "done") return ready("False", reason, message);
  return ready("True", "Running", "it is registered, and its pod is available");
}
