/** Validation rules of PipeCD v0.57.0 for requests and stored rows. */
import type { Rules } from "../validation.ts";

const nameAndType = { name: "not empty", type: "not empty" } as const;
const model: Rules = {
  "model.ApplicationGitPath": { repo: "given", path: "a relative path" },
  "model.ApplicationGitRepository": { id: "not empty" },
  "model.Piped.CloudProvider": nameAndType,
  "model.Piped.PlatformProvider": nameAndType,
  "model.Piped.Plugin": { name: "not empty" },
};

/** Rules for rows. */
export const modelRules: Rules = {
  ...model,
  "model.Piped": { id: "not empty", name: "not empty", project_id: "not empty", status: "defined" },
  "model.PipedKey": { hash: "not empty", creator: "not empty" },
  "model.Application": {
    id: "not empty",
    name: "not empty",
    piped_id: "not empty",
    project_id: "not empty",
    kind: "defined",
    git_path: "given",
  },
  "model.Event": {
    id: "not empty",
    name: "not empty",
    data: "not empty",
    project_id: "not empty",
    status: "defined",
  },
  "model.APIKey": {
    id: "not empty",
    name: "not empty",
    key_hash: "not empty",
    project_id: "not empty",
    role: "defined",
    creator: "not empty",
  },
};

const ofPiped = { piped_id: "not empty" } as const;
const ofApplication = { application_id: "not empty" } as const;
const newApplication = {
  name: "not empty",
  piped_id: "not empty",
  git_path: "given",
  kind: "defined",
} as const;

const within = (service: string, rules: Rules): Rules =>
  Object.fromEntries(Object.entries(rules).map(([name, fields]) => [`${service}.${name}Request`, fields]));

/** Rules for requests to the WebService. RegisterPiped and RecreatePipedKey have none. */
export const webRules: Rules = {
  ...model,
  ...within("grpc.service.webservice", {
    UpdatePiped: { piped_id: "not empty", name: "not empty" },
    DeleteOldPipedKeys: ofPiped,
    EnablePiped: ofPiped,
    DisablePiped: ofPiped,
    GetPiped: ofPiped,
    RestartPiped: ofPiped,
    AddApplication: newApplication,
    UpdateApplication: {
      application_id: "not empty",
      name: "not empty",
      piped_id: "not empty",
      kind: "defined",
    },
    EnableApplication: ofApplication,
    DisableApplication: ofApplication,
    DeleteApplication: ofApplication,
    GetApplication: ofApplication,
    SyncApplication: ofApplication,
    GenerateAPIKey: { name: "not empty", role: "defined" },
    DisableAPIKey: { id: "not empty" },
  }),
};

/** Rules for requests to the APIService. */
export const apiRules: Rules = {
  ...model,
  ...within("grpc.service.apiservice", {
    RegisterPiped: { name: "not empty" },
    GetPiped: ofPiped,
    UpdatePiped: { piped_id: "not empty", name: "not empty" },
    EnablePiped: ofPiped,
    DisablePiped: ofPiped,
    AddApplication: newApplication,
    GetApplication: ofApplication,
    UpdateApplication: { application_id: "not empty", piped_id: "not empty", git_path: "given" },
    EnableApplication: ofApplication,
    DisableApplication: ofApplication,
    DeleteApplication: ofApplication,
    SyncApplication: ofApplication,
    GetCommand: { command_id: "not empty" },
    RegisterEvent: {
      name: "not empty",
      data: "not empty",
      labels: "filled entries",
      contexts: "trailers",
    },
  }),
};

/** Rules for requests to the PipedService. */
export const pipedRules: Rules = {
  ...model,
  ...within("grpc.service.pipedservice", {
    GetLatestEvent: { name: "not empty" },
    ListEvents: { order: "defined", status: "defined" },
  }),
  "grpc.service.pipedservice.ReportEventStatusesRequest.Event": {
    id: "not empty",
    status: "defined",
    status_description: "not empty",
  },
};
