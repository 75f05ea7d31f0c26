/** Applications in the WebService of PipeCD v0.9.0. */
import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { ApplicationSchema } from "@denrei/functions/pipecd/api/generated/l0/model_pb";
import type { WebService } from "@denrei/functions/pipecd/api/generated/l0/webservice_pb";
import { folderUrl } from "../giturl.ts";
import type { Handlers } from "../service.ts";
import { internal, invalidArgument, RpcError } from "../status.ts";
import type { Claims } from "../tokens.ts";
import type { PlaneL0 } from "./plane.ts";
import { applicationOf, pipedOf, requireApplication, requirePiped, stored } from "./rows.ts";

/** Methods of the WebService for applications. */
export function webApplications(
  plane: PlaneL0,
): Pick<
  Handlers<typeof WebService, Claims>,
  "addApplication" | "enableApplication" | "disableApplication" | "listApplications" | "getApplication"
> {
  const { store, seconds } = plane;

  function setDisabled(id: string, { project }: Claims, disabled: boolean): void {
    requireApplication(plane, id, project);
    stored("Failed to update the application", () =>
      store.applications.update(id, (one) => Object.assign(one, { disabled, updatedAt: seconds() })),
    );
  }

  return {
    addApplication({ gitPath, ...request }, { project }) {
      const { repo: requested, path = "", configFilename = "" } = gitPath ?? {};
      if (path.startsWith("/")) throw new RpcError(invalidArgument, "The path must be a relative path");
      const { repositories } = pipedOf(plane, request.pipedId);
      requirePiped(plane, request.pipedId, project);
      const repo = repositories.find(({ id }) => id === requested?.id);
      if (repo === undefined) throw new RpcError(internal, "The repository is not found");
      const url = folderUrl(repo.remote, path, repo.branch);
      if (url === undefined) throw new RpcError(internal, "Failed to make GitPath URL");
      const { name, envId, pipedId, kind, cloudProvider } = request;
      const [id, now] = [randomUUID(), seconds()];
      const application = create(ApplicationSchema, {
        ...{ id, name, envId, pipedId, kind, cloudProvider },
        projectId: project,
        gitPath: { repo, path, configFilename, url },
        createdAt: now,
        updatedAt: now,
      });
      stored("Failed to create application", () => store.applications.add(application));
      return { applicationId: id };
    },
    enableApplication({ applicationId }, caller) {
      setDisabled(applicationId, caller, false);
      return {};
    },
    disableApplication({ applicationId }, caller) {
      setDisabled(applicationId, caller, true);
      return {};
    },
    listApplications({ options }, { project }) {
      // PipeCD uses only the first value.
      const { enabled, kinds = [], syncStatuses = [], envIds = [] } = options ?? {};
      const [kind, status, environment] = [kinds[0], syncStatuses[0], envIds[0]];
      const applications = stored("Failed to get applications", () =>
        store.applications.find(
          (one) =>
            one.projectId === project &&
            (enabled ?? !one.disabled) === !one.disabled &&
            (kind ?? one.kind) === one.kind &&
            // An application without a sync state matches no status, not even UNKNOWN.
            (status === undefined || one.syncState?.status === status) &&
            (environment ?? one.envId) === one.envId,
        ),
      );
      return { applications };
    },
    getApplication({ applicationId }, { project }) {
      const application = applicationOf(plane, applicationId);
      requireApplication(plane, applicationId, project);
      return { application };
    },
  };
}
