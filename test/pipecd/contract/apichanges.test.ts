/** Section 7 of the recording, second half, and 7b: changing applications with the APIService of v0.57.0. */
import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { describe } from "vitest";
import type {
  AddApplicationRequestSchema,
  UpdateApplicationRequestSchema,
} from "../../../functions/pipecd/api/generated/c/apiservice_pb.ts";
import { openEnvironment } from "./environment.ts";
import { createFixtures, reportPiped } from "./fixtures.ts";
import { type Expected, fails, ok, row, tag } from "./rows.ts";
import { target } from "./target.ts";

const environment = openEnvironment(() => target("C"));
const { api, web, admin } = environment;
const fixtures = createFixtures(environment);
reportPiped(environment, fixtures);

const unknownId = randomUUID();
const writer = () => fixtures.writer;
const reader = () => fixtures.reader;
const other = () => fixtures.otherWriter;
const refused = fails(7, "Permission denied");

type Request = Exclude<MessageInitShape<typeof AddApplicationRequestSchema>, { $typeName: string }>;
type UpdateRequest = Exclude<MessageInitShape<typeof UpdateApplicationRequestSchema>, { $typeName: string }>;
const labels = { env: `test-environment${tag}` };
const gitPath = { repo: { id: "examples" }, path: "kubernetes/canary", configFilename: "app.pipecd.yaml" };
const request = (): Request => ({
  name: `api-app${tag}`,
  pipedId: fixtures.piped,
  gitPath,
  platformProvider: "kubernetes-default",
  description: "d",
  labels,
});
const ids = { app: "", more: "", command: "" };
const gone = fails(5, "Application is not found");
const foreignPiped = fails(3, "Requested piped does not belong to your project");
const foreign = fails(3, "Requested application does not belong to your project");
const done = ok({ application_id: "<uuid>" });

const add = (
  title: string,
  changes: () => Partial<Request>,
  expected: Expected,
  key = writer,
  as?: keyof typeof ids,
) =>
  row(title, () => api("addApplication", { ...request(), ...changes() }, key()), expected, {
    keep({ applicationId }) {
      if (as !== undefined) ids[as] = applicationId;
    },
  });

describe("7: changes", () => {
  add("(AddApplication)", () => ({}), done, writer, "app");

  const update = (title: string, some: () => UpdateRequest, expected: Expected, key = writer) =>
    row(title, () => api("updateApplication", some(), key()), expected);
  const ours = () => ({ applicationId: ids.app, pipedId: fixtures.piped });

  update(
    "UpdateApplication",
    () => ({ ...ours(), platformProvider: "pp3", gitPath: { ...gitPath, configFilename: "z.pipecd.yaml" } }),
    done,
  );
  update(
    "UpdateApplication without git_path",
    ours,
    fails(3, "invalid request: invalid UpdateApplicationRequest.GitPath: value is required"),
  );
  update(
    "UpdateApplication, git_path without repo",
    () => ({ ...ours(), gitPath: { path: "aa", configFilename: "z.pipecd.yaml" } }),
    fails(
      3,
      "invalid request: invalid UpdateApplicationRequest.GitPath: embedded message failed validation | caused by: invalid ApplicationGitPath.Repo: value is required",
    ),
  );
  update("UpdateApplication, READ_ONLY key", () => ({ ...ours(), gitPath }), refused, reader);
  update(
    "UpdateApplication, foreign app",
    () => ({ applicationId: ids.app, pipedId: fixtures.otherPiped, gitPath }),
    done,
    other,
  );

  type Method = "disableApplication" | "enableApplication" | "deleteApplication";
  const call = (method: Method, title: string, expected: Expected, key = writer, id = () => ids.app) =>
    row(title, () => api(method, { applicationId: id() }, key()), expected);
  call("disableApplication", "DisableApplication", done);
  call("disableApplication", "disable twice", done);
  call("enableApplication", "EnableApplication", done);
  row(
    "SyncApplication",
    () => api("syncApplication", { applicationId: ids.app }, writer()),
    ok({ command_id: "<uuid>" }),
    {
      keep({ commandId }) {
        ids.command = commandId;
      },
    },
  );
  row(
    "GetCommand",
    () => api("getCommand", { commandId: ids.command }, reader()),
    ok({
      command: {
        id: "<uuid>",
        piped_id: "<uuid>",
        application_id: "<uuid>",
        commander: "<uuid>",
        project_id: "quickstart",
        sync_application: { application_id: "<uuid>" },
        created_at: "<unix>",
        updated_at: "<unix>",
      },
    }),
  );
  row(
    "GetCommand, unknown",
    () => api("getCommand", { commandId: unknownId }, reader()),
    fails(5, "Command is not found"),
  );
  call("deleteApplication", "DeleteApplication, foreign key", foreign, other);
  call("deleteApplication", "DeleteApplication, READ_ONLY key", refused, reader);
  call("deleteApplication", "DeleteApplication", done);
  call("deleteApplication", "delete twice", done);
  call("enableApplication", "enable deleted", fails(3, "Invalid argument to enable application <uuid>"));
  call("deleteApplication", "delete unknown", gone, writer, () => unknownId);
});

describe("7b: applications, further", () => {
  const ours = () => ({ applicationId: ids.more, pipedId: fixtures.piped });
  const see = (shows: object) =>
    row("… see", () => api("getApplication", { applicationId: ids.more }, reader()), ok(shows), {
      pick: ({ application: found }) => ({
        name: found?.name,
        pp: found?.platformProvider,
        cp: found?.cloudProvider,
        file: found?.gitPath?.configFilename,
        path: found?.gitPath?.path,
        repo: found?.gitPath?.repo?.id,
      }),
    });
  const update = (title: string, changes: () => UpdateRequest, expected: Expected) =>
    row(title, () => api("updateApplication", { ...ours(), gitPath, ...changes() }, writer()), expected);

  add("AddApplication", () => ({ name: `more${tag}` }), done, writer, "more");
  update(
    "UpdateApplication without platform_provider, other path/repo",
    () => ({ gitPath: { repo: { id: "zzz" }, path: "other/path", configFilename: "n.pipecd.yaml" } }),
    done,
  );
  see({ name: "more", pp: "", cp: "", file: "n.pipecd.yaml", path: "kubernetes/canary", repo: "examples" });
  update(
    "UpdateApplication without config_filename",
    () => ({ platformProvider: "x", gitPath: { repo: { id: "examples" }, path: "kubernetes/canary" } }),
    done,
  );
  see({ name: "more", pp: "x", cp: "x", file: "", path: "kubernetes/canary", repo: "examples" });
  update(
    "UpdateApplication unknown piped",
    () => ({ pipedId: unknownId }),
    fails(13, "Failed to failed to get piped <uuid>"),
  );
  update("UpdateApplication foreign piped", () => ({ pipedId: fixtures.otherPiped }), foreignPiped);
  update(
    "UpdateApplication unknown app",
    () => ({ applicationId: unknownId }),
    fails(5, "Entity was not found to failed to update application <uuid>"),
  );
  row(
    "UpdateApplication READ_ONLY-less (no key)",
    () => api("updateApplication", {}, []),
    fails(16, "missing credentials in authorization"),
  );
  const methods = [
    ...(["enableApplication", "disableApplication", "syncApplication"] as const),
    ...(["getApplication", "deleteApplication"] as const),
  ];
  for (const method of methods) {
    const name = method.replace(/^./, (letter) => letter.toUpperCase());
    const call = (id: string, key: string) => api(method, { applicationId: id }, key);
    row(`${name}, key of project other`, () => call(ids.more, other()), foreign);
    row(`${name}, unknown id`, () => call(unknownId, writer()), gone);
  }
  add("AddApplication unknown piped", () => ({ pipedId: unknownId }), fails(5, "Piped is not found"));
  row(
    "an application of the APIService in the WebService",
    () => web("getApplication", { applicationId: ids.more }, admin()),
    ok("more"),
    { pick: ({ application }) => application?.name },
  );
});
