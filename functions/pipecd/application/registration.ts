/**
 * How an application comes to be known at PipeCD. A piped overwrites its name, description and labels with what the repository
 * says, so it is known by where it is; and nothing is unique to PipeCD, so each is looked for before it is made.
 */
import type { Stored } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import type { ApplicationRecord } from "../api/model.ts";
import type { PipecdClient } from "../api/services.ts";
import { Application, type ControlPlane } from "../kinds.ts";
import { patience } from "../pace.ts";
import { pacedWait, WaitingError } from "../server/dependent.ts";
import { openServer } from "../server/open.ts";
import { announcement } from "../server/registering.ts";
import type { Wanted } from "./wanted.ts";

type App = Stored<Application>;
type Place = Wanted["registered"];

/** An application that is known. */
export interface Registered {
  readonly id: string;
  /** The newest version of the object. */
  readonly application: App;
}

/** Sees to it that PipeCD knows the application as it is wanted. */
export async function register(
  application: App,
  { registered: place, kind, description, labels, pipedSince }: Wanted,
  client: PipecdClient,
  plane: Stored<ControlPlane>,
  ctx: Context,
): Promise<Registered> {
  const latest = await retireFormer(application, place, client, plane, ctx);
  const found = await existing(latest, place, client, ctx);
  if (found) {
    await refresh(found, place, client, ctx);
    return { id: found.id, application: latest };
  }
  await checkRepository(latest, place, pipedSince, client, ctx.now());
  const announced = await ctx.status(Application, latest, {}, announcement);
  ctx.assertOwned();
  const id = await client.applications.add({
    name: place.name,
    pipedID: place.pipedID,
    environmentID: place.environmentID ?? "",
    repository: place.repository,
    path: place.path,
    configFilename: place.configFilename,
    provider: place.provider,
    kind,
    description,
    labels,
  });
  ctx.event("Normal", "Registered", `PipeCD knows the application ${place.name} as ${id}`);
  return { id, application: announced };
}

/** What can not be changed makes way for another one: its project, its repository, its path and its kind. */
async function retireFormer(
  application: App,
  place: Place,
  client: PipecdClient,
  plane: Stored<ControlPlane>,
  ctx: Context,
): Promise<App> {
  const { applicationID, registered: last } = application.status ?? {};
  if (applicationID === undefined || last === undefined || canBecome(last, place, client)) return application;
  const { projectID } = last;
  const former =
    projectID === place.projectID ? client : await openServer(plane, { ...application.spec, projectID }, ctx);
  const record = await former.applications.get(applicationID);
  if (record && !record.deleted) {
    ctx.assertOwned();
    await former.applications.delete(applicationID);
    ctx.event(
      "Normal",
      "Retired",
      `PipeCD has deleted the application ${applicationID}: it can not become what is wanted`,
    );
  }
  // A merge patch takes away what is null.
  return ctx.status(Application, application, { applicationID: null, registered: null } as object);
}

type Last = NonNullable<NonNullable<Application["status"]>["registered"]>;

function canBecome(last: Last, place: Place, { applications }: PipecdClient): boolean {
  const stays = (field: keyof Place) => last[field] === place[field];
  if (!(["projectID", "repository", "path", "kind"] as const).every(stays)) return false;
  if (applications.update !== undefined) return true;
  return (["name", "environmentID", "pipedID", "configFilename", "provider"] as const).every(stays);
}

/** The application that is this one: by its id, else the only one at its place that is no other object's. */
async function existing(
  { metadata, status }: App,
  place: Place,
  { applications }: PipecdClient,
  ctx: Context,
): Promise<ApplicationRecord | undefined> {
  const { applicationID } = status ?? {};
  if (applicationID !== undefined) {
    const own = await applications.get(applicationID);
    if (own && !own.deleted) return own;
    ctx.event(
      "Warning",
      "RegistrationLost",
      `PipeCD does not have the application ${applicationID} any more: it is registered anew`,
    );
  }
  const others = (await ctx.read.list(Application)).filter(({ metadata: { uid } }) => uid !== metadata.uid);
  const taken = new Set(others.map((other) => other.status?.applicationID));
  const same = (await applications.list(place.pipedID)).filter(
    (record) => isAt(record, place) && !taken.has(record.id),
  );
  if (same.length <= 1) return same[0];
  throw new BlockedError(
    "Ambiguous",
    `expected one application at ${place.repository}/${place.path} of its piped, found ${same.length}: ${same.map(({ id }) => id).join(", ")}. Delete those at PipeCD that are not this one.`,
    patience,
  );
}

/** Whether a record is at a place. An empty filename is what PipeCD reads as .pipe.yaml. */
export const isAt = (record: ApplicationRecord, place: Omit<Place, "environmentID">): boolean =>
  record.repository === place.repository &&
  record.path === place.path &&
  (record.configFilename || ".pipe.yaml") === place.configFilename &&
  record.kind === place.kind;

/** Somebody may have changed or disabled it. */
async function refresh(
  record: ApplicationRecord,
  { pipedID, provider, configFilename }: Place,
  { applications }: PipecdClient,
  ctx: Context,
): Promise<void> {
  if (record.disabled) {
    ctx.assertOwned();
    await applications.enable(record.id);
    ctx.event(
      "Normal",
      "Enabled",
      `the application ${record.id} was disabled at PipeCD, and is enabled again`,
    );
  }
  const isSame =
    record.pipedID === pipedID && record.provider === provider && record.configFilename === configFilename;
  if (isSame || applications.update === undefined) return;
  ctx.assertOwned();
  await applications.update(record, { pipedID, provider, configFilename });
  ctx.event("Normal", "Updated", `PipeCD has changed the application ${record.id}`);
}

/** A piped tells its repositories when it starts: a second later they are known, and those that it does not have never are. */
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
    : "none, for it has reported none yet";
  throw new WaitingError(
    "RepositoryNotFound",
    `expected the piped to have a repository with the repoId ${repository}, found ${found}`,
    pacedWait(status ?? {}, now, { after: pipedSince }),
  );
}
