/** Applications of PipeCD v0.57.0, as rows: what both services do with them. */
import { randomUUID } from "node:crypto";
import { create, type MessageShape } from "@bufbuild/protobuf";
import {
  type Application,
  type ApplicationGitPathSchema,
  type ApplicationKind,
  ApplicationSchema,
  ApplicationSyncStatus,
  type Piped,
} from "../../../../functions/pipecd/api/generated/c/model_pb.ts";
import { internal, RpcError } from "../status.ts";
import { StoreError } from "../table.ts";
import { gitPathIn } from "./gitpath.ts";
import type { PlaneC } from "./plane.ts";
import { stored } from "./rows.ts";

/** What requests say of a new application. */
export interface NewApplication {
  readonly name: string;
  readonly gitPath?: MessageShape<typeof ApplicationGitPathSchema> | undefined;
  readonly kind: ApplicationKind;
  readonly platformProvider: string;
  readonly description: string;
  readonly labels: Record<string, string>;
  readonly deployTargetsByPlugin?: Application["deployTargetsByPlugin"];
}

/** What an update replaces: what it leaves out is emptied. */
export interface Configuration {
  readonly pipedId: string;
  readonly platformProvider: string;
  readonly deployTargetsByPlugin: Application["deployTargetsByPlugin"];
  readonly configFilename: string;
}

/** What lists are asked for; what is left out matches everything. */
export interface ApplicationFilter {
  readonly project: string;
  readonly disabled?: boolean | undefined;
  readonly kind?: ApplicationKind | undefined;
  readonly syncStatus?: ApplicationSyncStatus | undefined;
  readonly name: string;
  readonly pipedId: string;
}

/** Adds an application of the piped's project. Its repository must be one that the piped has reported. */
export function addApplication(
  { store, seconds }: PlaneC,
  piped: Piped,
  pipedId: string,
  { gitPath, platformProvider, ...rest }: NewApplication,
): string {
  if (gitPath === undefined) throw new Error("expected a validated request, found one without git_path");
  const [id, now] = [randomUUID(), seconds()];
  const application = create(ApplicationSchema, {
    ...rest,
    id,
    pipedId,
    projectId: piped.projectId,
    gitPath: gitPathIn(piped, gitPath),
    platformProvider,
    cloudProvider: platformProvider,
    createdAt: now,
    updatedAt: now,
  });
  stored(`add application ${id}`, () => store.applications.add(application));
  return id;
}

/** The piped that an update names. Any failure to read it is told as one of the server. */
export function pipedForUpdate({ store }: PlaneC, id: string): Piped {
  try {
    return store.pipeds.get(id);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new RpcError(internal, `Failed to failed to get piped ${id}`);
  }
}

/** Replaces the configuration. Whose application it is, nobody asks. */
export function configure(
  { store, seconds }: PlaneC,
  id: string,
  { configFilename, ...configuration }: Configuration,
): void {
  stored(`failed to update application ${id}`, () =>
    store.applications.update(id, (application) => {
      if (application.deleted) throw new StoreError("invalid");
      const cloudProvider = configuration.platformProvider;
      Object.assign(application, configuration, { cloudProvider, updatedAt: seconds() });
      if (application.gitPath !== undefined) application.gitPath.configFilename = configFilename;
    }),
  );
}

/** Enables or disables, unless it is deleted. */
export function setDisabled({ store, seconds }: PlaneC, id: string, disabled: boolean): void {
  stored(`${disabled ? "disable" : "enable"} application ${id}`, () =>
    store.applications.update(id, (application) => {
      if (application.deleted) throw new StoreError("invalid");
      Object.assign(application, { disabled, updatedAt: seconds() });
    }),
  );
}

/** Marks it: the row stays, and lists go on to show it. */
export function markDeleted({ store, seconds }: PlaneC, id: string): void {
  stored(`delete application ${id}`, () =>
    store.applications.update(id, (application) => {
      const now = seconds();
      Object.assign(application, { deleted: true, disabled: true, deletedAt: now, updatedAt: now });
    }),
  );
}

/** What a running piped does when the file in git has another name, description or labels. */
export function overwriteFromGit(
  { store, seconds }: PlaneC,
  id: string,
  fields: Partial<Pick<Application, "name" | "description" | "labels">>,
): void {
  store.applications.update(id, (application) => {
    if (application.deleted) throw new StoreError("invalid");
    Object.assign(application, fields, { updatedAt: seconds() });
  });
}

/** The ones that match, those changed last first. */
export function matching({ store }: PlaneC, filter: ApplicationFilter): Application[] {
  const { project, disabled, kind, syncStatus, name, pipedId } = filter;
  return store.applications.find(
    (one) =>
      one.projectId === project &&
      (disabled ?? one.disabled) === one.disabled &&
      (kind ?? one.kind) === one.kind &&
      (syncStatus ?? statusOf(one)) === statusOf(one) &&
      (name === "" || collates(one.name, name)) &&
      (pipedId === "" || collates(one.pipedId, pipedId)),
  );
}

/** MySQL compares columns of text without regard to case and accents. */
const collates = (a: string, b: string): boolean => a.localeCompare(b, "en", { sensitivity: "base" }) === 0;

/** Whether it has all of the labels. */
export const hasLabels = ({ labels }: Application, wanted: Readonly<Record<string, string>>): boolean =>
  Object.entries(wanted).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);

const statusOf = ({ syncState }: Application): ApplicationSyncStatus =>
  syncState?.status ?? ApplicationSyncStatus.UNKNOWN;
