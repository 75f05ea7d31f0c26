/** Places of applications in PipeCD, which identify them. Pure. */
import { posix } from "node:path";
import type { ApplicationRecord } from "../api/model.ts";
import type { PipecdClient } from "../api/services.ts";
import type { Application } from "../kinds.ts";
import type { Desired } from "./desiredapplication.ts";

/** The desired place of an application, with the fields that can change there. */
export type Place = Desired["registered"];
type Status = NonNullable<Application["status"]>;
/** A place as the status stores it. */
export type StoredPlace = NonNullable<Status["registered"]>;
/** An application in PipeCD that another one has replaced. */
export type Former = NonNullable<Status["former"]>[number];

/** One configuration file of one agent. */
export type FileLocation = Pick<StoredPlace, "pipedID" | "repository" | "path" | "configFilename">;

const folder = (path: string): string => posix.normalize(`${path}/`);

/** Whether both are the same file of the same agent. Compares normalized paths. */
export const isSameFile = (a: FileLocation, b: FileLocation): boolean =>
  a.pipedID === b.pipedID &&
  a.repository === b.repository &&
  folder(a.path) === folder(b.path) &&
  a.configFilename === b.configFilename;

/** Whether a record is at a place. PipeCD reads an empty filename as .pipe.yaml. */
export const isAt = (
  record: ApplicationRecord,
  place: Pick<StoredPlace, "repository" | "path" | "configFilename" | "kind">,
): boolean =>
  record.repository === place.repository &&
  record.path === place.path &&
  (record.configFilename || ".pipe.yaml") === place.configFilename &&
  record.kind === place.kind;

/**
 * Whether PipeCD can change a registration to the desired place. Project, repository, path, and kind are fixed; up to v0.9.0,
 * all fields are.
 */
export function canUpdateTo(
  last: StoredPlace,
  place: Place,
  { applications }: Pick<PipecdClient, "applications">,
): boolean {
  const stays = (field: keyof Place) => last[field] === place[field];
  if (!(["projectID", "repository", "path", "kind"] as const).every(stays)) return false;
  if (applications.update !== undefined) return true;
  return (["name", "environmentID", "pipedID", "configFilename", "provider"] as const).every(stays);
}

/** All applications in PipeCD that belong to an object. */
export const idsOf = ({ status }: Pick<Application, "status">): readonly (string | undefined)[] => [
  status?.applicationID,
  ...(status?.former ?? []).map(({ applicationID }) => applicationID),
];

/** Describes the live application, from the status. */
export function describeRegistration({ status }: Pick<Application, "status">): string | undefined {
  if (status?.applicationID === undefined) return undefined;
  const { repository, path, projectID } = status.registered ?? {};
  const where = repository === undefined ? "" : ` at ${repository}/${path} in the project ${projectID}`;
  return `PipeCD has the application ${status.applicationID}${where}`;
}
