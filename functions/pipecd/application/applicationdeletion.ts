/** Finalizes an Application: deletes it in PipeCD. */
import type { Context, Result, Stored } from "denrei";
import { Application } from "../kinds.ts";
import { deregister } from "../server/deregistration.ts";
import { openServer } from "../server/openserver.ts";
import { callerFor, retireAll } from "../server/replacedregistrations.ts";
import { interruptedAt, removeApplication } from "./formerapplications.ts";

type App = Stored<Application>;

/** Deletes the live application, the replaced ones, and any that a worker registered before it died. */
export async function finalizeApplication(application: App, ctx: Context): Promise<Result | undefined> {
  const { status = {}, spec } = application;
  const { applicationID, registered, registering, former = [] } = status;
  const known = [
    ...(applicationID === undefined
      ? []
      : [{ id: applicationID, projectID: registered?.projectID ?? spec.projectID }]),
    ...former.map((one) => ({ id: one.applicationID, projectID: one.registered.projectID })),
  ];
  // It was never registered.
  if (known.length === 0 && registering === undefined) return undefined;
  await deregister(Application, application, ctx, async (plane) => {
    const open = (projectID: string) => openServer(plane, callerFor(spec, projectID), ctx);
    const remove = async (id: string, projectID: string) => {
      const removal = await removeApplication(id, await open(projectID), ctx);
      if (removal) ctx.event("Normal", removal, `PipeCD has ${removal.toLowerCase()} the application ${id}`);
    };
    const { error } = await retireAll(known, ({ id, projectID }) => remove(id, projectID));
    if (error) throw error;
    if (registering === undefined) return;
    const { projectID } = registering;
    for (const id of await interruptedAt(application, registering, await open(projectID), ctx))
      await remove(id, projectID);
  });
  return undefined;
}
