/** Replaced pipeds in PipeCD. The status lists them until PipeCD has disabled them. */
import type { Context, Stored } from "denrei";
import type { PipecdClient } from "../api/services.ts";
import { isReady } from "../controlplane/planelookup.ts";
import { type ControlPlane, Piped } from "../kinds.ts";
import { openServer } from "../server/openserver.ts";
import { callerFor, type RetireResult, retireAll, writeRetired } from "../server/replacedregistrations.ts";

/** Id and project of a piped in PipeCD. */
export type Former = NonNullable<NonNullable<Piped["status"]>["former"]>[number];

/** The pipeds that `id` replaces: those in the status, and `more`. */
export function formerOf(
  { status }: Pick<Piped, "status">,
  more: readonly (Former | undefined)[],
  id: string | undefined,
): Former[] {
  const found = new Map<string, Former>();
  for (const one of [...(status?.former ?? []), ...more])
    if (one !== undefined && one.pipedID !== id) found.set(one.pipedID, one);
  return [...found.values()];
}

/** All pipeds in PipeCD that belong to an object. */
export const idsOf = ({ status }: Pick<Piped, "status">): readonly (string | undefined)[] => [
  status?.pipedID,
  ...(status?.former ?? []).map(({ pipedID }) => pipedID),
];

/** If the name or project has changed since a worker died, adds the piped that the worker registered to `former`. */
export async function recordInterrupted(
  piped: Stored<Piped>,
  desired: { readonly name: string; readonly projectID: string },
  plane: Stored<ControlPlane>,
  ctx: Context,
): Promise<Stored<Piped>> {
  const { registering: interrupted, pipedID } = piped.status ?? {};
  if (interrupted === undefined) return piped;
  const { name, projectID, keyID } = interrupted;
  if (name === desired.name && projectID === desired.projectID) return piped;
  const { pipeds } = await openServer(plane, callerFor(piped.spec, projectID), ctx);
  const interruptedRecords = (await pipeds.list()).filter(
    ({ id, keyIDs }) => id !== pipedID && keyIDs.includes(keyID),
  );
  const former = formerOf(
    piped,
    interruptedRecords.map(({ id }) => ({ pipedID: id, projectID })),
    undefined,
  );
  const patch = { registering: null, ...(former.length > 0 && { former }) };
  return ctx.status(Piped, piped, patch);
}

/** Disables former pipeds, and schedules a retry for those that PipeCD refuses to disable. */
export async function retire(
  piped: Stored<Piped>,
  plane: Stored<ControlPlane>,
  ctx: Context,
): Promise<RetireResult<Piped>> {
  if (!isReady(plane)) return { object: piped };
  const { former = [], pipedID } = piped.status ?? {};
  const all = former.length > 0 ? await ctx.live.list(Piped) : [];
  const others = all.filter(({ metadata: { uid } }) => uid !== piped.metadata.uid);
  const taken = new Set(others.map(({ status }) => status?.pipedID));
  const { left, error } = await retireAll(former, async (one) => {
    if (one.pipedID === pipedID || taken.has(one.pipedID)) return;
    const client = await openServer(plane, callerFor(piped.spec, one.projectID), ctx);
    if (await disable(one.pipedID, client, ctx))
      ctx.event(
        "Normal",
        "Retired",
        `PipeCD has disabled the piped ${one.pipedID}: another one has replaced it`,
      );
  });
  return writeRetired(Piped, piped, left, error, ctx);
}

async function disable(id: string, { pipeds }: PipecdClient, ctx: Context): Promise<boolean> {
  if (!(await pipeds.list({ enabled: true })).some((record) => record.id === id)) return false;
  ctx.assertOwned();
  await pipeds.disable(id);
  return true;
}
