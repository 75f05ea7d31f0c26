/**
 * Registers an application with PipeCD. A piped overwrites its name, description, and labels with those in the repository, so its
 * place identifies it. PipeCD accepts duplicates, so a reconcile searches before it registers. A replacement is registered first;
 * the former application is deleted when the status has the new one.
 */
import { isDeepStrictEqual } from "node:util";
import { BlockedError, type Context, type Stored } from "denrei";
import type { ApplicationRecord, DeployTargets } from "../api/model.ts";
import type { PipecdClient } from "../api/services.ts";
import { retryMillis } from "../intervals.ts";
import { Application } from "../kinds.ts";
import type { Profile } from "../profile.ts";
import { announcement } from "../server/announcement.ts";
import { ready, WaitingError, waitPollMillis } from "../server/dependent.ts";
import type { Desired } from "./desiredapplication.ts";
import {
  canUpdateTo,
  describeRegistration,
  type Former,
  idsOf,
  isAt,
  isSameFile,
  type Place,
} from "./place.ts";
import { waitForPlace } from "./placeclaims.ts";

type App = Stored<Application>;

/** A registered application. */
export interface Registered {
  readonly id: string;
  /** The newest version of the object. */
  readonly application: App;
}

/** Registers the application, or updates its registration. */
export async function register(
  application: App,
  desired: Desired,
  profile: Profile,
  client: PipecdClient,
  ctx: Context,
): Promise<Registered> {
  const { registered: place } = desired;
  const { own, application: latest } = await ownRecord(application, place, client, ctx);
  if (own?.last && isSameFile(own.last, place) && own.record.pipedID === place.pipedID) {
    await refresh(own.record, place, client, ctx);
    return { id: own.record.id, application: latest };
  }
  await waitForPlace(latest, place, profile, ctx);
  const found = own?.record ?? (await unownedRecord(latest, place, client, ctx));
  if (found?.pipedID !== place.pipedID)
    await checkRepository(latest, place, desired.pipedSince, client, ctx.now());
  const announced = await ctx.status(
    Application,
    latest,
    { registering: place },
    announcement(describeRegistration(latest)),
  );
  await waitForPlace(announced, place, profile, ctx);
  if (found) {
    await refresh(found, place, client, ctx);
    return { id: found.id, application: announced };
  }
  return { id: await add(desired, client, ctx), application: announced };
}

async function add(
  { registered: place, kind, description, labels }: Desired,
  { applications }: PipecdClient,
  ctx: Context,
): Promise<string> {
  ctx.assertOwned();
  const id = await applications.add({
    name: place.name,
    pipedID: place.pipedID,
    environmentID: place.environmentID ?? "",
    repository: place.repository,
    path: place.path,
    configFilename: place.configFilename,
    provider: place.provider,
    ...byPlugin(place),
    kind,
    description,
    labels,
  });
  ctx.event("Normal", "Registered", `registered the application ${place.name} with PipeCD as ${id}`);
  return id;
}

interface Own {
  readonly record: ApplicationRecord;
  /** Its last known place; undefined if the status does not have it. */
  readonly last: Former["registered"] | undefined;
}

/** The live application if PipeCD can change it to the desired place, otherwise a former application that still exists. */
async function ownRecord(
  application: App,
  place: Place,
  client: PipecdClient,
  ctx: Context,
): Promise<{ readonly own: Own | undefined; readonly application: App }> {
  const { applicationID, registered, former = [] } = application.status ?? {};
  let latest = application;
  const find = async (id: string) => {
    const record = await client.applications.get(id);
    return record?.deleted === false ? record : undefined;
  };
  if (applicationID !== undefined && (registered === undefined || canUpdateTo(registered, place, client))) {
    const record = await find(applicationID);
    if (record) return { own: { record, last: registered }, application };
    latest = await recordLoss(application, applicationID, ctx);
  }
  for (const { applicationID: id, registered: last } of former) {
    const record = canUpdateTo(last, place, client) ? await find(id) : undefined;
    if (record) return { own: { record, last }, application: latest };
  }
  return { own: undefined, application: latest };
}

/** Removes a lost application from the status. */
function recordLoss(application: App, id: string, ctx: Context): Promise<App> {
  const message = `PipeCD no longer has the application ${id}`;
  ctx.event("Warning", "RegistrationLost", `${message}: registering it again`);
  return ctx.status(Application, application, { applicationID: null, registered: null }, [
    { type: "Registered", status: "False", reason: "RegistrationLost", message },
    ready("False", "RegistrationLost", message),
  ]);
}

/** The only unowned application at the place, for example one whose worker died before it wrote the id. */
async function unownedRecord(
  application: App,
  place: Place,
  { applications }: PipecdClient,
  ctx: Context,
): Promise<ApplicationRecord | undefined> {
  const taken = new Set((await ctx.live.list(Application)).flatMap(idsOf));
  for (const id of idsOf(application)) taken.add(id);
  const same = (await applications.list(place.pipedID)).filter(
    (record) =>
      isAt(record, place) &&
      !taken.has(record.id) &&
      (applications.update !== undefined || isEqual(record, place)),
  );
  if (same.length <= 1) return same[0];
  throw new BlockedError(
    "Ambiguous",
    `expected one application at ${place.repository}/${place.path} of its piped, found ${same.length}: ${same.map(({ id }) => id).join(", ")}. Delete the others in PipeCD.`,
    retryMillis,
  );
}

/** Up to v0.9.0 PipeCD cannot change an application, so every field has to match. */
const isEqual = ({ name, provider }: ApplicationRecord, place: Place): boolean =>
  name === place.name && provider === place.provider;

/** Deploy targets in PipeCD's format; empty with an agent of v0. */
const byPlugin = ({ deployTargets }: Pick<Place, "deployTargets">): { deployTargets?: DeployTargets } =>
  deployTargets === undefined
    ? {}
    : { deployTargets: Object.fromEntries(deployTargets.map(({ plugin, names }) => [plugin, names])) };

/** Reverts changes made in PipeCD, and enables the application if it was disabled. */
async function refresh(
  record: ApplicationRecord,
  { pipedID, provider, configFilename, deployTargets }: Place,
  { applications }: PipecdClient,
  ctx: Context,
): Promise<void> {
  if (record.disabled) {
    ctx.assertOwned();
    await applications.enable(record.id);
    ctx.event("Normal", "Enabled", `enabled the application ${record.id}, which was disabled in PipeCD`);
  }
  const isSame =
    record.pipedID === pipedID &&
    record.provider === provider &&
    record.configFilename === configFilename &&
    isDeepStrictEqual({ ...record.deployTargets }, { ...byPlugin({ deployTargets }).deployTargets });
  if (isSame || applications.update === undefined) return;
  ctx.assertOwned();
  await applications.update(record, {
    pipedID,
    provider,
    configFilename,
    ...byPlugin({ deployTargets }),
  });
  ctx.event("Normal", "Updated", `updated the application ${record.id} in PipeCD`);
}

/** Waits for the repository. A piped reports all of them at startup; they arrive in PipeCD about a second later. */
async function checkRepository(
  { status }: App,
  { pipedID, repository }: Place,
  pipedSince: number,
  { pipeds }: PipecdClient,
  now: number,
): Promise<void> {
  const piped = (await pipeds.list({ enabled: true })).find(({ id }) => id === pipedID);
  if (piped?.repositories.includes(repository)) return;
  const found = piped?.repositories.length
    ? piped.repositories.join(", ")
    : "none, because it has not reported any yet";
  throw new WaitingError(
    "RepositoryNotFound",
    `expected the piped to have a repository with the repoId ${repository}, found ${found}`,
    waitPollMillis(status ?? {}, now, { after: pipedSince }),
  );
}
