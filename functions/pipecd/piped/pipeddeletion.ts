/** Finalizes a Piped: stops its pod, disables it in PipeCD, and deletes its cluster-scoped objects. */
import {
  ClusterRole,
  ClusterRoleBinding,
  type Context,
  controllerOf,
  isForbidden,
  isMarkedBy,
  type Result,
  Secret,
  type Stored,
} from "denrei";
import { Deployment } from "denrei/kinds";
import { unlessNotFound } from "../api/errors.ts";
import type { PipecdClient } from "../api/services.ts";
import { Application, Piped } from "../kinds.ts";
import { isNamespaceTerminating, waitForUsers } from "../kubernetes/finalizers.ts";
import { deregister } from "../server/deregistration.ts";
import { openServer } from "../server/openserver.ts";
import { callerFor, retireAll } from "../server/replacedregistrations.ts";
import { type Former, formerOf, idsOf } from "./formerpipeds.ts";
import { pipedIn } from "./keysecret.ts";
import { roleName } from "./pipedobjects.ts";

/** Waits for the Applications, stops the pod, disables the piped, and deletes its role and binding. */
export async function finalizePiped(piped: Stored<Piped>, ctx: Context): Promise<Result | undefined> {
  if (!(await isNamespaceTerminating(ctx))) {
    const users = (await ctx.live.list(Application)).filter(
      ({ spec }) => spec.pipedRef.objectName === piped.metadata.name,
    );
    const kept = await waitForUsers(Piped, piped, users, ctx);
    if (kept) return kept;
  }
  // A running piped logs errors once it is disabled, so stop it first.
  const deployment = await ctx.live.get(Deployment, piped.metadata.name);
  if (deployment && controllerOf(deployment)?.uid === piped.metadata.uid)
    await ctx.delete(Deployment, deployment);
  const { spec, status } = piped;
  const known = await knownOf(piped, ctx);
  if (known.length > 0 || status?.registering !== undefined)
    await deregister(Piped, piped, ctx, async (plane) => {
      const projects = new Set(
        [...known, ...(status?.registering ? [status.registering] : [])].map(({ projectID }) => projectID),
      );
      const { error } = await retireAll([...projects], async (projectID) =>
        disable(piped, known, await openServer(plane, callerFor(spec, projectID), ctx), projectID, ctx),
      );
      if (error) throw error;
    });
  for (const kind of [ClusterRoleBinding, ClusterRole]) {
    const found = await ctx.live.get(kind, roleName(piped));
    if (found && isMarkedBy(found, piped)) await ctx.delete(kind, found);
  }
  return undefined;
}

/** Pipeds in PipeCD that belong to this object, from its status and its Secret. */
async function knownOf(piped: Stored<Piped>, { live }: Context): Promise<readonly Former[]> {
  const { metadata, spec, status } = piped;
  const secret = await live.get(Secret, metadata.name).catch((error: unknown) => {
    // Denrei created no Secret in a namespace where it cannot read Secrets.
    if (isForbidden(error)) return undefined;
    throw error;
  });
  const isOurs = secret !== undefined && controllerOf(secret)?.uid === metadata.uid;
  const projectID = status?.registered?.projectID ?? spec.projectID;
  const current = status?.pipedID === undefined ? undefined : { pipedID: status.pipedID, projectID };
  return formerOf(piped, [isOurs ? pipedIn(secret, projectID) : undefined, current], undefined);
}

/** Disables this object's pipeds in a project, and any that a worker registered before it died. */
async function disable(
  piped: Stored<Piped>,
  known: readonly Former[],
  { pipeds }: PipecdClient,
  projectID: string,
  ctx: Context,
): Promise<void> {
  const { registering } = piped.status ?? {};
  const records = await pipeds.list({ enabled: true });
  const others = (await ctx.live.list(Piped)).filter(({ metadata: { uid } }) => uid !== piped.metadata.uid);
  const taken = new Set(others.flatMap(idsOf));
  const isKnown = (id: string) => known.some((one) => one.pipedID === id);
  const begun = records.filter(
    ({ name, keyIDs }) =>
      registering?.projectID === projectID &&
      (keyIDs.includes(registering.keyID) ||
        (name === registering.name && !known.some((one) => one.projectID === projectID))),
  );
  for (const { id } of records) {
    const isOurs = isKnown(id) || (begun.some((one) => one.id === id) && !taken.has(id));
    if (!isOurs) continue;
    ctx.assertOwned();
    await unlessNotFound(pipeds.disable(id));
    ctx.event("Normal", "Disabled", `PipeCD has disabled the piped ${id}`);
  }
}
