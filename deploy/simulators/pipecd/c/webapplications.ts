/** Applications in the WebService of PipeCD v0.57.0. */
import { Command_Type } from "@denrei/functions/pipecd/api/generated/c/model_pb";
import type { WebService } from "@denrei/functions/pipecd/api/generated/c/webservice_pb";
import type { Handlers } from "../service.ts";
import { Panic, permissionDenied, RpcError } from "../status.ts";
import type { Claims } from "../tokens.ts";
import {
  addApplication,
  configure,
  hasLabels,
  markDeleted,
  matching,
  pipedForUpdate,
  setDisabled,
} from "./applications.ts";
import { addCommand } from "./commands.ts";
import type { PlaneC } from "./plane.ts";
import { applicationOf, pipedOf, requireApplication, stored } from "./rows.ts";

/** Methods of the WebService for applications. */
export function webApplications(
  plane: PlaneC,
): Pick<
  Handlers<typeof WebService, Claims>,
  | "addApplication"
  | "updateApplication"
  | "enableApplication"
  | "disableApplication"
  | "deleteApplication"
  | "listApplications"
  | "getApplication"
  | "syncApplication"
> {
  return {
    addApplication({ pipedId, ...request }, { project }) {
      const piped = pipedOf(plane, pipedId);
      requireProject("piped", piped.projectId, project);
      return { applicationId: addApplication(plane, piped, pipedId, request) };
    },
    updateApplication({ applicationId, ...request }, { project }) {
      requireProject("piped", pipedForUpdate(plane, request.pipedId).projectId, project);
      const { pipedId, platformProvider, deployTargetsByPlugin, configFilename } = request;
      configure(plane, applicationId, { pipedId, platformProvider, deployTargetsByPlugin, configFilename });
      return {};
    },
    enableApplication({ applicationId }, { project }) {
      requireApplication(plane, applicationId, project);
      setDisabled(plane, applicationId, false);
      return {};
    },
    disableApplication({ applicationId }, { project }) {
      requireApplication(plane, applicationId, project);
      setDisabled(plane, applicationId, true);
      return {};
    },
    deleteApplication({ applicationId }, { project }) {
      requireApplication(plane, applicationId, project);
      markDeleted(plane, applicationId);
      return {};
    },
    listApplications({ options }, { project }) {
      const applications = stored("list applications", () =>
        matching(plane, {
          project,
          disabled: options?.enabled === undefined ? undefined : !options.enabled,
          // PipeCD uses only the first value.
          kind: options?.kinds[0],
          syncStatus: options?.syncStatuses[0],
          name: options?.name ?? "",
          pipedId: options?.pipedId ?? "",
        }),
      );
      if (options === undefined) throw new Panic("invalid memory address or nil pointer dereference");
      return { applications: applications.filter((one) => hasLabels(one, options.labels)) };
    },
    getApplication({ applicationId }, { project }) {
      const application = applicationOf(plane, applicationId);
      requireProject("application", application.projectId, project);
      return { application };
    },
    syncApplication({ applicationId, syncStrategy }, { project, subject }) {
      const { id, pipedId, projectId } = applicationOf(plane, applicationId);
      requireProject("application", projectId, project);
      const commandId = addCommand(plane, {
        pipedId,
        applicationId: id,
        projectId,
        commander: subject,
        type: Command_Type.SYNC_APPLICATION,
        syncApplication: { applicationId: id, syncStrategy },
      });
      return { commandId };
    },
  };
}

function requireProject(what: "piped" | "application", found: string, project: string): void {
  if (found !== project) {
    throw new RpcError(permissionDenied, `Requested ${what} does not belong to your project`);
  }
}
