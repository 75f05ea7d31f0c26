/** The end of a piped: it stops, PipeCD is told, and what is in no namespace is taken away. */

import { isMarkedBy } from "../../../bus/kube/clusterchild.ts";
import { isForbidden } from "../../../bus/kube/errors.ts";
import { Secret } from "../../../bus/kube/kind.ts";
import { controllerOf, type Stored } from "../../../bus/kube/object.ts";
import { ClusterRole, ClusterRoleBinding } from "../../../bus/kube/rbac.ts";
import { Deployment } from "../../../bus/kube/workloads.ts";
import type { Context, Result } from "../../../bus/worker/function.ts";
import { unlessNotFound } from "../api/errors.ts";
import type { PipecdClient } from "../api/services.ts";
import { Application, Piped } from "../kinds.ts";
import { keptFor } from "../kubernetes/inuse.ts";
import { isNamespaceGoing } from "../kubernetes/namespace.ts";
import { annotations } from "../names.ts";
import { sayGoodbye } from "../server/farewell.ts";
import { openServer } from "../server/open.ts";
import { isRegistering } from "../server/registering.ts";
import { roleName } from "./objects.ts";

/** Waits for the applications, stops the pod, disables the piped, and takes its rights away. */
export async function leave(piped: Stored<Piped>, ctx: Context): Promise<Result | undefined> {
  if (!(await isNamespaceGoing(ctx))) {
    const users = (await ctx.live.list(Application)).filter(
      ({ spec }) => spec.pipedRef.objectName === piped.metadata.name,
    );
    const kept = await keptFor(Piped, piped, users, ctx);
    if (kept) return kept;
  }
  // Whoever is disabled while it runs complains for as long as it does.
  const deployment = await ctx.live.get(Deployment, piped.metadata.name);
  if (deployment && controllerOf(deployment)?.uid === piped.metadata.uid)
    await ctx.delete(Deployment, deployment);
  if (await mayBeKnown(piped, ctx))
    await sayGoodbye(Piped, piped, ctx, async (plane) => {
      const projectID = piped.status?.registered?.projectID ?? piped.spec.projectID;
      await disable(piped, await openServer(plane, { ...piped.spec, projectID }, ctx), ctx);
    });
  for (const kind of [ClusterRoleBinding, ClusterRole]) {
    const found = await ctx.live.get(kind, roleName(piped), "");
    if (found && isMarkedBy(found, piped)) await ctx.delete(kind, found);
  }
  return undefined;
}

/** The id that was kept when it was registered, wherever that is. */
async function keptID({ metadata, status }: Stored<Piped>, { live }: Context): Promise<string | undefined> {
  if (status?.pipedID !== undefined) return status.pipedID;
  const secret = await live.get(Secret, metadata.name).catch((error: unknown) => {
    // Where Secrets can not be read there is none of ours.
    if (isForbidden(error)) return undefined;
    throw error;
  });
  if (secret === undefined || controllerOf(secret)?.uid !== metadata.uid) return undefined;
  return secret.metadata.annotations?.[annotations.pipedID];
}

/** One that was never registered need not be told of, whoever is there to hear it. */
const mayBeKnown = async (piped: Stored<Piped>, ctx: Context): Promise<boolean> =>
  isRegistering(piped) || (await keptID(piped, ctx)) !== undefined;

async function disable(piped: Stored<Piped>, { pipeds }: PipecdClient, ctx: Context): Promise<void> {
  const records = await pipeds.list({ enabled: true });
  const kept = await keptID(piped, ctx);
  const taken = new Set((await ctx.live.list(Piped)).map(({ status }) => status?.pipedID));
  const isOurs = ({ id, name }: { readonly id: string; readonly name: string }) =>
    kept === undefined ? name === piped.spec.name && !taken.has(id) : id === kept;
  for (const { id } of records.filter(isOurs)) {
    ctx.assertOwned();
    await unlessNotFound(pipeds.disable(id));
    ctx.event("Normal", "Disabled", `PipeCD has disabled the piped ${id}`);
  }
}
