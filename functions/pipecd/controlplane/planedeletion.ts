/** Finalizes a control plane, which keeps running until no object depends on it. */
import type { Context, Result, Stored } from "denrei";
import { Deployment } from "denrei/kinds";
import { Application, ControlPlane, Environment, Piped } from "../kinds.ts";
import { isNamespaceTerminating, waitForUsers } from "../kubernetes/finalizers.ts";
import { partName } from "./partobjects.ts";
import { type Dependent, planeOf } from "./planelookup.ts";

/** Whether a deleted control plane can no longer answer, because its server is gone or being deleted. */
export async function isServerGone(
  plane: Stored<ControlPlane>,
  { live }: Pick<Context, "live">,
): Promise<boolean> {
  if (plane.metadata.deletionTimestamp === undefined) return false;
  if (plane.metadata.finalizers?.includes("foregroundDeletion")) return true;
  return (await live.get(Deployment, partName(plane.metadata.name, "server"))) === undefined;
}

/** Releases the control plane when no object depends on it. */
export async function finalizeControlPlane(
  plane: Stored<ControlPlane>,
  ctx: Context,
): Promise<Result | undefined> {
  if ((await isNamespaceTerminating(ctx)) || (await isServerGone(plane, ctx))) return undefined;
  return waitForUsers(ControlPlane, plane, await dependentsOf(plane, ctx), ctx);
}

/** Objects that depend on it, read from the API server so that new ones are included. */
async function dependentsOf(plane: Stored<ControlPlane>, { live }: Context): Promise<Stored[]> {
  const planes = await live.list(ControlPlane);
  const found: Stored[] = [];
  for (const kind of [Application, Piped, Environment]) {
    for (const object of (await live.list<Dependent>(kind as never)) as readonly Stored<Dependent>[])
      if (planeOf(object, planes)?.metadata.uid === plane.metadata.uid) found.push(object);
  }
  return found;
}
