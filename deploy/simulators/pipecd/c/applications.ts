/** Rows of applications in PipeCD v0.57.0, shared by both services. */
import { randomUUID } from "node:crypto";
import { create, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import {
  type Application,
  type ApplicationGitPathSchema,
  type ApplicationKind,
  ApplicationSchema,
  ApplicationSyncStatus,
  type Piped,
} from "@denrei/functions/pipecd/api/generated/c/model_pb";
import { folderUrl } from "../giturl.ts";
import { internal, notFound, RpcError } from "../status.ts";
import { StoreError } from "../table.ts";
import type { PlaneC } from "./plane.ts";
import { stored } from "./rows.ts";

/** Fields of a new application. */
export interface NewApplication {
  readonly name: string;
  readonly gitPath?: MessageShape<typeof ApplicationGitPathSchema> | undefined;
  readonly kind: ApplicationKind;
  readonly platformProvider: string;
  readonly description: string;
  readonly labels: Record<string, string>;
  readonly deployTargetsByPlugin?: Application["deployTargetsByPlugin"];
}

/** Fields that an update replaces; omitted ones are cleared. */
export interface Configuration {
  readonly pipedId: string;
  readonly platformProvider: string;
  readonly deployTargetsByPlugin: Application["deployTargetsByPlugin"];
  readonly configFilename: string;
}

/** Filter of a list; omitted fields match everything. */
export interface ApplicationFilter {
  readonly project: string;
  readonly disabled?: boolean | undefined;
  readonly kind?: ApplicationKind | undefined;
  readonly syncStatus?: ApplicationSyncStatus | undefined;
  readonly name: string;
  readonly pipedId: string;
}

/** Adds an application to the piped's project. The piped must have reported its repository. */
export function addApplication(
  { store, seconds }: PlaneC,
  piped: Piped,
  pipedId: string,
  { gitPath, platformProvider, ...rest }: NewApplication,
): string {
  if (gitPath === undefined) throw new Error("validated request has no git_path");
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

/** The piped that an update names. PipeCD reports any read failure as an internal error. */
export function pipedForUpdate({ store }: PlaneC, id: string): Piped {
  try {
    return store.pipeds.get(id);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new RpcError(internal, `Failed to failed to get piped ${id}`);
  }
}

/** Replaces the configuration. PipeCD does not check the application's project. */
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

/** Enables or disables an application that is not deleted. */
export function setDisabled({ store, seconds }: PlaneC, id: string, disabled: boolean): void {
  stored(`${disabled ? "disable" : "enable"} application ${id}`, () =>
    store.applications.update(id, (application) => {
      if (application.deleted) throw new StoreError("invalid");
      Object.assign(application, { disabled, updatedAt: seconds() });
    }),
  );
}

/** Marks an application as deleted. The row stays, and lists still include it. */
export function markDeleted({ store, seconds }: PlaneC, id: string): void {
  stored(`delete application ${id}`, () =>
    store.applications.update(id, (application) => {
      const now = seconds();
      Object.assign(application, { deleted: true, disabled: true, deletedAt: now, updatedAt: now });
    }),
  );
}

/** Updates an application as a running piped does when its file in git differs. */
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

/** Matching applications, last updated first. */
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

/** MySQL ignores case and accents when it compares text. */
const collates = (a: string, b: string): boolean => a.localeCompare(b, "en", { sensitivity: "base" }) === 0;

/** Whether the application has all labels. */
export const hasLabels = ({ labels }: Application, required: Readonly<Record<string, string>>): boolean =>
  Object.entries(required).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);

const statusOf = ({ syncState }: Application): ApplicationSyncStatus =>
  syncState?.status ?? ApplicationSyncStatus.UNKNOWN;

/** Takes remote and branch from the piped and ignores those of the request. */
function gitPathIn(
  piped: Piped,
  { repo: requested, path, configFilename }: MessageShape<typeof ApplicationGitPathSchema>,
): MessageInitShape<typeof ApplicationGitPathSchema> {
  const repo = piped.repositories.find(({ id }) => id === requested?.id);
  if (repo === undefined) {
    throw new RpcError(notFound, "The requested repository is not found in the Piped configuration");
  }
  const url = folderUrl(repo.remote, path, repo.branch);
  if (url === undefined) throw new RpcError(internal, "Failed to make GitPath URL");
  return { repo, path, configFilename, url };
}
