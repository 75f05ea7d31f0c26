/** Status and conditions of a Piped. */
import { type ConditionUpdate, type Context, type Result, rolloutOf, type Stored } from "denrei";
import type { Deployment } from "denrei/kinds";
import { Piped } from "../kinds.ts";
import { ready, syncedStatus, untilSync } from "../server/dependent.ts";
import { formerOf } from "./formerpipeds.ts";
import { type KnownPiped, syncMillisOf } from "./pipedsync.ts";

/** Writes the status, and returns when to reconcile again. */
export async function writeStatus(
  {
    plane,
    registered,
    desired,
    synced,
    deployment,
  }: Omit<KnownPiped, "profile"> & { readonly deployment: Stored<Deployment> | undefined },
  ctx: Context,
): Promise<{ readonly piped: Stored<Piped>; readonly result: Result }> {
  const { id, piped } = registered;
  const { pipedID, registered: last } = piped.status ?? {};
  const replaced =
    pipedID === undefined ? undefined : { pipedID, projectID: last?.projectID ?? desired.projectID };
  const former = formerOf(piped, [replaced], id);
  const status = {
    pipedID: registered.id,
    ...(desired.environmentID !== undefined && { environmentID: desired.environmentID }),
    registered: desired,
    connection: registered.connection,
    availableReplicas: deployment?.status?.availableReplicas ?? 0,
    ...(synced !== undefined && syncedStatus(plane, synced)),
    registering: null,
    former: former.length > 0 ? former : null,
  };
  const message = `PipeCD has the piped ${id}`;
  const written = await ctx.status(Piped, piped, status, [
    { type: "Registered", status: "True", reason: "Registered", message },
    // Not ready until the former pipeds are disabled.
    ...(former.length > 0 ? [] : [readyOf(deployment)]),
  ]);
  const requeueAfter = untilSync(written.status ?? {}, ctx.now(), syncMillisOf(written.status ?? {}));
  return { piped: written, result: { requeueAfter } };
}

/** The condition Ready, from the state of the pod. */
export function readyOf(deployment: Stored<Deployment> | undefined): ConditionUpdate {
  if (deployment === undefined) return ready("False", "Progressing", "the Deployment does not exist yet");
  const { state, reason, message } = rolloutOf(deployment);
  if (state !== "done") return ready("False", reason, message);
  return ready("True", "Running", "the piped is registered, and its pod is available");
}
