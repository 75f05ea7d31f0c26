/** Replaced applications in PipeCD. The status lists them until PipeCD has deleted them. */
import type { Context, Stored } from "denrei";
import { unlessNotFound } from "../api/errors.ts";
import type { PipecdClient } from "../api/services.ts";
import { profileOfPlane } from "../controlplane/blueprint.ts";
import { isReady } from "../controlplane/planelookup.ts";
import { Application, type ControlPlane, Piped } from "../kinds.ts";
import { openServer } from "../server/openserver.ts";
import { callerFor, type RetireResult, retireAll, writeRetired } from "../server/replacedregistrations.ts";
import { canUpdateTo, type Former, idsOf, isAt, isSameFile, type Place, type StoredPlace } from "./place.ts";
import { cycleOf, isOldest, placeTaken } from "./placeclaims.ts";

type App = Stored<Application>;

/** The applications that `id` replaces: those in the status, and the live one. */
export function formerOf({ status }: Pick<Application, "status">, id: string | undefined): Former[] {
  const { applicationID, registered, former = [] } = status ?? {};
  const live = applicationID === undefined || registered === undefined ? [] : [{ applicationID, registered }];
  return [...former.filter((one) => one.applicationID !== applicationID), ...live].filter(
    (one) => one.applicationID !== id,
  );
}

/** Ids of applications that a worker registered at the announced place before it died. */
export async function interruptedAt(
  application: App,
  place: StoredPlace,
  { applications }: PipecdClient,
  ctx: Context,
): Promise<readonly string[]> {
  const taken = new Set((await ctx.live.list(Application)).flatMap(idsOf));
  for (const id of idsOf(application)) taken.add(id);
  const records = await applications.list(place.pipedID);
  // No other Application registers at an announced place, but a user may.
  return records
    .filter((record) => record.name === place.name && isAt(record, place) && !taken.has(record.id))
    .map(({ id }) => id);
}

/** If the place has changed since a worker died, adds the application that the worker registered to `former`. */
export async function recordInterrupted(
  application: App,
  place: Place,
  client: PipecdClient,
  plane: Stored<ControlPlane>,
  ctx: Context,
): Promise<App> {
  const { registering: interrupted, former = [] } = application.status ?? {};
  if (interrupted === undefined) return application;
  // Otherwise register() finds the application at the desired place.
  const isThere =
    interrupted.pipedID === place.pipedID && interrupted.configFilename === place.configFilename;
  if (isThere && canUpdateTo(interrupted, place, client)) return application;
  const other = await openServer(plane, callerFor(application.spec, interrupted.projectID), ctx);
  const interruptedIDs = await interruptedAt(application, interrupted, other, ctx);
  const found = interruptedIDs.map((applicationID) => ({ applicationID, registered: interrupted }));
  const patch = { registering: null, ...(found.length > 0 && { former: [...former, ...found] }) };
  return ctx.status(Application, application, patch);
}

/** Deletes former applications, and schedules a retry for those that PipeCD refuses to delete. */
export async function retire(
  application: App,
  plane: Stored<ControlPlane>,
  ctx: Context,
): Promise<RetireResult<Application>> {
  if (!isReady(plane)) return { object: application };
  const { former = [], applicationID } = application.status ?? {};
  const { left, error } = await retireAll(former, async (one) => {
    if (one.applicationID === applicationID) return;
    const client = await openServer(plane, callerFor(application.spec, one.registered.projectID), ctx);
    const removal = await removeApplication(one.applicationID, client, ctx);
    if (removal)
      ctx.event(
        "Normal",
        "Retired",
        `PipeCD has ${removal.toLowerCase()} the application ${one.applicationID}: ${applicationID} has replaced it`,
      );
  });
  return writeRetired(Application, application, left, error, ctx);
}

/** Deletes or disables an application. Returns undefined if it was deleted or disabled before. */
export async function removeApplication(
  id: string,
  { applications }: PipecdClient,
  ctx: Context,
): Promise<"Deleted" | "Disabled" | undefined> {
  const { removal } = applications;
  const record = await applications.get(id);
  if (record === undefined || record.deleted || (removal === "Disabled" && record.disabled)) return undefined;
  ctx.assertOwned();
  await unlessNotFound(applications.delete(id));
  return removal;
}

/**
 * Resolves a cycle of Applications that wait for each other's places: the oldest one gives up its live application, so that the next one
 * can register there. Another Application is registered at its new place, so the checks before a registration have passed there.
 */
export async function yieldPlace(
  application: App,
  place: Place,
  plane: Stored<ControlPlane>,
  ctx: Context,
): Promise<App> {
  const { applicationID, registered } = application.status ?? {};
  if (applicationID === undefined || registered === undefined || isSameFile(registered, place))
    return application;
  const pipeds = await ctx.read.list(Piped);
  const pipedIDs = new Map(pipeds.map(({ metadata: { name }, status }) => [name, status?.pipedID]));
  const all = await ctx.live.list(Application);
  const cycle = cycleOf(application, all, place, profileOfPlane(plane), pipedIDs);
  const successor = cycle?.at(-1);
  if (cycle === undefined || successor === undefined || !isOldest(application, cycle)) return application;
  const client = await openServer(plane, callerFor(application.spec, registered.projectID), ctx);
  const removal = await removeApplication(applicationID, client, ctx);
  const { name } = successor.metadata;
  const message = `the Application ${name} takes over ${registered.repository}/${registered.path}`;
  if (removal)
    ctx.event(
      "Normal",
      "PlaceReleased",
      `PipeCD has ${removal.toLowerCase()} the application ${applicationID}: ${message}`,
    );
  return ctx.status(Application, application, { applicationID: null, registered: null }, [
    { type: "Registered", status: "False", reason: placeTaken, message },
  ]);
}
