/** Section 6 of the recording, second half: changing applications of v0.57.0. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe } from "vitest";
import { type Application, ApplicationKind } from "../../../functions/pipecd/api/generated/c/model_pb.ts";
import { openEnvironment } from "./environment.ts";
import { createFixtures, reportPiped } from "./fixtures.ts";
import { type Expected, fails, ok, row, tag } from "./rows.ts";
import { target } from "./target.ts";

const environment = openEnvironment(() => target("C"));
const { web, admin } = environment;
const fixtures = createFixtures(environment);
reportPiped(environment, fixtures);

const unknownId = randomUUID();
const gitPath = { repo: { id: "examples" }, path: "kubernetes/canary", configFilename: "app.pipecd.yaml" };
const name = `contract-app${tag}`;
const ids = { one: "", two: "" };
beforeAll(async () => {
  const request = { name, pipedId: fixtures.piped, gitPath, platformProvider: "kubernetes-default" };
  ids.one = (await web("addApplication", request)).answer?.applicationId ?? "";
  ids.two = (await web("addApplication", request)).answer?.applicationId ?? "";
});

const inOther = () => admin({ project: environment.target.otherProject });
const notFound = fails(5, "Application is not found");
const foreign = fails(7, "Requested application doesn't belong to the project you logged in");
const see = (title: string, pick: (application: Application) => unknown, shows: unknown) =>
  row(title, () => web("getApplication", { applicationId: ids.one }), ok(shows), {
    pick: ({ application }) => application && pick(application),
  });

describe("updating", () => {
  const provider = ({ name: found, kind, platformProvider, cloudProvider, gitPath: path }: Application) => ({
    name: found,
    kind,
    pp: platformProvider,
    cp: cloudProvider,
    file: path?.configFilename,
  });

  row(
    "UpdateApplication",
    () =>
      web("updateApplication", {
        applicationId: ids.one,
        name: "new-name",
        pipedId: fixtures.piped,
        kind: ApplicationKind.TERRAFORM,
        platformProvider: "pp2",
        configFilename: "other.pipecd.yaml",
      }),
    ok({}),
  );
  see("… see", provider, { name: "contract-app", kind: 0, pp: "pp2", cp: "pp2", file: "other.pipecd.yaml" });
  row(
    "UpdateApplication, provider+filename omitted",
    () => web("updateApplication", { applicationId: ids.one, name: "n", pipedId: fixtures.piped }),
    ok({}),
  );
  see("… see", provider, { name: "contract-app", kind: 0, pp: "", cp: "", file: "" });
  row(
    "UpdateApplication, no name",
    () => web("updateApplication", { applicationId: ids.one, pipedId: fixtures.piped }),
    fails(3, "invalid request: invalid UpdateApplicationRequest.Name: value length must be at least 1 runes"),
  );
  row(
    "UpdateApplication, unknown piped",
    () => web("updateApplication", { applicationId: ids.one, name: "n", pipedId: unknownId }),
    fails(13, "Failed to failed to get piped <uuid>"),
  );
  row(
    "UpdateApplication, piped of project other",
    () => web("updateApplication", { applicationId: ids.one, name: "n", pipedId: fixtures.otherPiped }),
    fails(7, "Requested piped does not belong to your project"),
  );
  row(
    "UpdateApplication, unknown app",
    () => web("updateApplication", { applicationId: unknownId, name: "n", pipedId: fixtures.piped }),
    fails(5, "Entity was not found to failed to update application <uuid>"),
  );
  row(
    "UpdateApplication of an app of ANOTHER project (JWT other + own piped)",
    () =>
      web(
        "updateApplication",
        {
          applicationId: ids.one,
          name: "n",
          pipedId: fixtures.otherPiped,
          configFilename: "app.pipecd.yaml",
        },
        inOther(),
      ),
    ok({}),
  );
  see(
    "… see (owner now)",
    ({ projectId, pipedId }) => ({
      project: projectId,
      piped: pipedId === fixtures.otherPiped ? "piped of project other" : pipedId,
    }),
    { project: "quickstart", piped: "piped of project other" },
  );
});

describe("disabling and deleting", () => {
  type Method = "disableApplication" | "enableApplication" | "deleteApplication";
  const call = (
    method: Method,
    title: string,
    expected: Expected,
    applicationId = () => ids.one,
    as = () => admin(),
  ) => row(title, () => web(method, { applicationId: applicationId() }, as()), expected);
  const unknown = () => unknownId;
  const one = () => ids.one;

  call("disableApplication", "DisableApplication", ok({}));
  call("disableApplication", "disable twice", ok({}));
  see("… see", ({ disabled }) => disabled, true);
  call("enableApplication", "EnableApplication", ok({}));
  call("enableApplication", "enable twice", ok({}));
  see("… see", ({ disabled }) => disabled, false);
  call("disableApplication", "DisableApplication wrong project", foreign, one, inOther);
  call("disableApplication", "DisableApplication unknown", notFound, unknown);
  call("deleteApplication", "DeleteApplication wrong project", foreign, one, inOther);
  call("deleteApplication", "DeleteApplication", ok({}));
  call("deleteApplication", "delete twice", ok({}));
  call("deleteApplication", "delete unknown", notFound, unknown);
  call(
    "deleteApplication",
    "delete empty",
    fails(
      3,
      "invalid request: invalid DeleteApplicationRequest.ApplicationId: value length must be at least 1 runes",
    ),
    () => "",
  );
  see(
    "get deleted",
    ({ deleted, disabled, deletedAt }) => ({
      deleted,
      disabled,
      deleted_at: deletedAt > 0n ? "set" : "unset",
    }),
    { deleted: true, disabled: true, deleted_at: "set" },
  );
  call("enableApplication", "enable deleted", fails(3, "Invalid argument to enable application <uuid>"));
  call("disableApplication", "disable deleted", fails(3, "Invalid argument to disable application <uuid>"));
  row(
    "update deleted",
    () => web("updateApplication", { applicationId: ids.one, name: "n", pipedId: fixtures.piped }),
    fails(3, "Invalid argument to failed to update application <uuid>"),
  );

  const list = (title: string, options: { enabled?: boolean }, shows: readonly string[]) =>
    row(title, () => web("listApplications", { options: { ...options, name } }), ok(shows), {
      pick: ({ applications }) =>
        applications
          .map((one) => `${one.name}${one.disabled ? ":dis" : ""}${one.deleted ? ":del" : ""}`)
          .sort(),
    });
  list("list, options {} contains the deleted one", {}, ["contract-app", "contract-app:dis:del"]);
  list("list enabled=true", { enabled: true }, ["contract-app"]);
  list("list enabled=false", { enabled: false }, ["contract-app:dis:del"]);

  row(
    "SyncApplication",
    () => web("syncApplication", { applicationId: ids.two }),
    ok({ command_id: "<uuid>" }),
  );
  const request = () => ({ pipedId: fixtures.piped });
  row("AddApplication on a DISABLED piped", () => web("disablePiped", request()), ok({}));
  row(
    "… AddApplication",
    () => web("addApplication", { name: `ondisabled${tag}`, ...request(), gitPath }),
    ok({ application_id: "<uuid>" }),
  );
  row("… EnablePiped", () => web("enablePiped", request()), ok({}));
});
