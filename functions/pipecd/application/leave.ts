/** The end of an application: PipeCD is told. */
import type { Stored } from "../../../bus/kube/object.ts";
import type { Context, Result } from "../../../bus/worker/function.ts";
import { unlessNotFound } from "../api/errors.ts";
import type { PipecdClient } from "../api/services.ts";
import { Application, Piped } from "../kinds.ts";
import { sayGoodbye } from "../server/farewell.ts";
import { openServer } from "../server/open.ts";
import { isRegistering } from "../server/registering.ts";

type App = Stored<Application>;

/** Deletes what PipeCD has of it. */
export async function leave(application: App, ctx: Context): Promise<Result | undefined> {
  const { status = {}, spec } = application;
  // One that was never registered need not be told of, whoever is there to hear it.
  if (status.applicationID === undefined && !isRegistering(application)) return undefined;
  await sayGoodbye(Application, application, ctx, async (plane) => {
    const projectID = status.registered?.projectID ?? spec.projectID;
    const client = await openServer(plane, { ...spec, projectID }, ctx);
    const id = status.applicationID ?? (await begun(application, client, ctx));
    if (id === undefined) return;
    const record = await client.applications.get(id);
    if (record === undefined || record.deleted) return;
    ctx.assertOwned();
    await unlessNotFound(client.applications.delete(id));
    ctx.event("Normal", "Deleted", `PipeCD has deleted the application ${id}`);
  });
  return undefined;
}

/** What came of a registration whose end nobody has written down. */
async function begun(
  { spec }: App,
  { applications }: PipecdClient,
  ctx: Context,
): Promise<string | undefined> {
  const piped = await ctx.read.get(Piped, spec.pipedRef.objectName);
  if (piped?.status?.pipedID === undefined) return undefined;
  const taken = new Set((await ctx.read.list(Application)).map(({ status }) => status?.applicationID));
  const records = await applications.list(piped.status.pipedID);
  return records.find(
    (record) =>
      record.name === spec.name &&
      record.repository === spec.repository &&
      record.path === spec.path &&
      !taken.has(record.id),
  )?.id;
}
