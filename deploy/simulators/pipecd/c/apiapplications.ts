/** Applications in the APIService of PipeCD v0.57.0, and commands for them. */

import type { MessageShape } from "@bufbuild/protobuf";
import type {
  APIService,
  ListApplicationsRequestSchema,
} from "@denrei/functions/pipecd/api/generated/c/apiservice_pb";
import {
  type APIKey,
  type Application,
  ApplicationKind,
  Command_Type,
} from "@denrei/functions/pipecd/api/generated/c/model_pb";
import type { Handlers } from "../service.ts";
import { invalidArgument, RpcError } from "../status.ts";
import {
  type ApplicationFilter,
  addApplication,
  configure,
  hasLabels,
  markDeleted,
  matching,
  pipedForUpdate,
  setDisabled,
} from "./applications.ts";
import { requireWriter } from "./callers.ts";
import { addCommand } from "./commands.ts";
import { afterCursor, cursorOf } from "./cursor.ts";
import type { PlaneC } from "./plane.ts";
import { applicationOf, fetched, pipedOf, stored } from "./rows.ts";

/** Methods of the APIService for applications, and for the commands that a sync creates. */
export function apiApplications(
  plane: PlaneC,
): Pick<
  Handlers<typeof APIService, APIKey>,
  | "addApplication"
  | "getApplication"
  | "listApplications"
  | "updateApplication"
  | "enableApplication"
  | "disableApplication"
  | "deleteApplication"
  | "syncApplication"
  | "getCommand"
> {
  return {
    addApplication({ pipedId, ...request }, key) {
      requireWriter(key);
      const piped = pipedOf(plane, pipedId);
      requireProject("piped", piped.projectId, key);
      return { applicationId: addApplication(plane, piped, pipedId, request) };
    },
    getApplication({ applicationId }, key) {
      const application = applicationOf(plane, applicationId);
      requireProject("application", application.projectId, key);
      return { application };
    },
    listApplications: (request, key) => listApplications(plane, request, key),
    updateApplication({ applicationId, pipedId, platformProvider, gitPath }, key) {
      requireWriter(key);
      requireProject("piped", pipedForUpdate(plane, pipedId).projectId, key);
      const configFilename = gitPath?.configFilename ?? "";
      configure(plane, applicationId, {
        pipedId,
        platformProvider,
        deployTargetsByPlugin: {},
        configFilename,
      });
      return { applicationId };
    },
    enableApplication({ applicationId }, key) {
      const { id } = writable(plane, key, applicationId);
      setDisabled(plane, applicationId, false);
      return { applicationId: id };
    },
    disableApplication({ applicationId }, key) {
      const { id } = writable(plane, key, applicationId);
      setDisabled(plane, applicationId, true);
      return { applicationId: id };
    },
    deleteApplication({ applicationId }, key) {
      const { id } = writable(plane, key, applicationId);
      markDeleted(plane, applicationId);
      return { applicationId: id };
    },
    syncApplication({ applicationId }, key) {
      const { id, pipedId, projectId } = writable(plane, key, applicationId);
      const commandId = addCommand(plane, {
        pipedId,
        applicationId: id,
        projectId,
        commander: key.id,
        type: Command_Type.SYNC_APPLICATION,
        syncApplication: { applicationId: id },
      });
      return { commandId };
    },
    getCommand: ({ commandId }) => ({
      command: fetched("Command is not found", "Failed to get command", () =>
        plane.store.commands.get(commandId),
      ),
    }),
  };
}

/** An application that the key may change. */
function writable(plane: PlaneC, key: APIKey, id: string): Application {
  requireWriter(key);
  const application = applicationOf(plane, id);
  requireProject("application", application.projectId, key);
  return application;
}

/** Lists applications, page by page if labels are given. */
function listApplications(
  plane: PlaneC,
  {
    name,
    kind,
    disabled,
    labels,
    limit,
    pipedId,
    cursor,
  }: MessageShape<typeof ListApplicationsRequestSchema>,
  key: APIKey,
) {
  const filter = { project: key.projectId, disabled, kind: kindOf(kind), name, pipedId };
  let next = page(plane, filter, limit, cursor, "failed to list applications");
  // Without labels, PipeCD returns no cursor, even if the limit has cut off results.
  if (Object.keys(labels).length === 0) return { applications: next.applications };
  const found = next.applications.filter((one) => hasLabels(one, labels));
  if (next.applications.length < limit) return { applications: found, cursor: next.cursor };
  // PipeCD adds whole pages, so the result may exceed the limit.
  while (found.length < limit) {
    next = page(plane, filter, limit, next.cursor, "get applications");
    if (next.applications.length === 0) break;
    found.push(...next.applications.filter((one) => hasLabels(one, labels)));
  }
  return { applications: found, cursor: next.cursor };
}

/** A page of the matching applications, with a cursor unless the page is empty. */
function page(plane: PlaneC, filter: ApplicationFilter, limit: number, cursor: string, what: string) {
  const found = stored(what, () => afterCursor(matching(plane, filter), cursor));
  const applications = limit > 0 ? found.slice(0, limit) : found;
  const last = applications.at(-1);
  return { applications, cursor: last === undefined ? "" : cursorOf(last) };
}

function requireProject(what: "piped" | "application", found: string, { projectId }: APIKey): void {
  if (found !== projectId) {
    throw new RpcError(invalidArgument, `Requested ${what} does not belong to your project`);
  }
}

/** Kinds are matched by exact name. */
function kindOf(name: string): ApplicationKind | undefined {
  if (name === "") return undefined;
  if (!isKind(name)) throw new RpcError(invalidArgument, "Invalid application kind");
  return ApplicationKind[name];
}

const isKind = (name: string): name is keyof typeof ApplicationKind => Object.hasOwn(ApplicationKind, name);
