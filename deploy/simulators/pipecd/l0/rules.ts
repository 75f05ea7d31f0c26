/** Validation rules of PipeCD v0.9.0 for requests and stored rows. */
import type { Rules } from "../validation.ts";

const model: Rules = {
  "pipe.model.ApplicationGitPath": { repo: "given", path: "not empty" },
  "pipe.model.ApplicationGitRepository": { id: "not empty" },
  "pipe.model.Piped.CloudProvider": { name: "not empty", type: "not empty" },
};

const stored = { id: "not empty", name: "not empty", project_id: "not empty" } as const;

/** Rules for rows. */
export const modelRules: Rules = {
  ...model,
  "pipe.model.Environment": stored,
  "pipe.model.Piped": { ...stored, env_ids: "one or more", status: "defined" },
  "pipe.model.PipedKey": { hash: "not empty", creator: "not empty" },
  "pipe.model.Application": {
    ...stored,
    env_id: "not empty",
    piped_id: "not empty",
    kind: "defined",
    git_path: "given",
    cloud_provider: "not empty",
  },
};

const web = "pipe.api.service.webservice";
const ofPiped = { piped_id: "not empty" } as const;
const ofApplication = { application_id: "not empty" } as const;

/** Rules for requests to the WebService. */
export const webRules: Rules = {
  ...model,
  [`${web}.AddEnvironmentRequest`]: { name: "not empty" },
  [`${web}.RegisterPipedRequest`]: { env_ids: "one or more" },
  [`${web}.EnablePipedRequest`]: ofPiped,
  [`${web}.DisablePipedRequest`]: ofPiped,
  [`${web}.GetPipedRequest`]: ofPiped,
  [`${web}.AddApplicationRequest`]: {
    name: "not empty",
    env_id: "not empty",
    piped_id: "not empty",
    git_path: "given",
    kind: "defined",
    cloud_provider: "not empty",
  },
  [`${web}.EnableApplicationRequest`]: ofApplication,
  [`${web}.DisableApplicationRequest`]: ofApplication,
  [`${web}.GetApplicationRequest`]: ofApplication,
};

/** Rules for requests to the PipedService. */
export const pipedRules: Rules = {
  ...model,
  "pipe.api.service.pipedservice.PingRequest": { piped_stats: "given" },
  "pipe.api.service.pipedservice.PipedStats": { version: "not empty" },
};
