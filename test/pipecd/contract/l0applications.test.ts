/** Applications of PipeCD v0.9.0 after its source, because there is no recording. */
import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { beforeAll, describe } from "vitest";
import {
  ApplicationKind,
  ApplicationSyncStatus,
} from "../../../functions/pipecd/api/generated/l0/model_pb.ts";
import type {
  AddApplicationRequestSchema,
  ListApplicationsRequestSchema,
} from "../../../functions/pipecd/api/generated/l0/webservice_pb.ts";
import { openEnvironment } from "./environment.ts";
import { meta } from "./fixtures.ts";
import { type Expected, fails, ok, row, tag } from "./rows.ts";
import { target } from "./target.ts";
import { pipedToken } from "./tokens.ts";

const environment = openEnvironment(() => target("L0"));
const { webL0: web, pipedL0: piped, admin } = environment;

type Request = Exclude<MessageInitShape<typeof AddApplicationRequestSchema>, { $typeName: string }>;
const ids = { piped: "", key: "", other: "" };
const applications: string[] = [];
const inOther = () => admin({ project: environment.target.otherProject });
beforeAll(async () => {
  const request = { name: `piped${tag}`, envIds: ["e"] };
  const { answer } = await web("registerPiped", request);
  const other = await web("registerPiped", request, inOther());
  Object.assign(ids, { piped: answer?.id, key: answer?.key, other: other.answer?.id });
});

const gitPath = { repo: { id: "examples" }, path: "kubernetes/canary", configFilename: ".pipe.yaml" };
const request = (): Request => ({
  name: `app${tag}`,
  envId: "e",
  pipedId: ids.piped,
  gitPath,
  kind: ApplicationKind.KUBERNETES,
  cloudProvider: "kubernetes-default",
});
const add = (title: string, changes: () => Partial<Request>, expected: Expected, as = () => admin()) =>
  row(title, () => web("addApplication", { ...request(), ...changes() }, as()), expected, {
    keep: ({ applicationId }) => applications.push(applicationId),
  });
const added = ok({ application_id: "<uuid>" });
const foreign = fails(7, "Requested piped doesn't belong to the project you logged in");

describe("adding", () => {
  const noRepository = fails(13, "The repository is not found");
  add("before the piped reported its repositories", () => ({}), noRepository);
  row(
    "piped reports meta",
    () =>
      piped(
        "reportPipedMeta",
        { version: "v0.9.0", repositories: meta.repositories },
        pipedToken(environment.target.project, ids.piped, ids.key),
      ),
    ok({}),
  );
  add("AddApplication", () => ({}), added);
  add("duplicate", () => ({ envId: "f", kind: ApplicationKind.CROSSPLANE }), added);
  add("name of 51 chars", () => ({ name: "a".repeat(51) }), added);
  add("wrong repo id", () => ({ gitPath: { ...gitPath, repo: { id: "example" } } }), noRepository);
  add(
    "repo without branch",
    () => ({ gitPath: { ...gitPath, repo: { id: "nobranch" } } }),
    fails(13, "Failed to make GitPath URL"),
  );
  add("unknown piped", () => ({ pipedId: randomUUID() }), fails(5, "Piped is not found"));
  add("piped of another project", () => ({ pipedId: ids.other }), foreign);
  add("wrong project in the JWT", () => ({}), foreign, inOther);

  const invalid = (rest: string) => fails(3, `invalid request: invalid AddApplicationRequest.${rest}`);
  const tooShort = "value length must be at least 1 runes";
  add("no name", () => ({ name: "" }), invalid(`Name: ${tooShort}`));
  add("no env_id", () => ({ envId: "" }), invalid(`EnvId: ${tooShort}`));
  add("no piped_id", () => ({ pipedId: "" }), invalid(`PipedId: ${tooShort}`));
  add("no cloud_provider", () => ({ cloudProvider: "" }), invalid(`CloudProvider: ${tooShort}`));
  add(
    "kind 5",
    () => ({ kind: 5 as number as ApplicationKind }),
    invalid("Kind: value must be one of the defined enum values"),
  );
  row(
    "no git_path",
    () => {
      const { gitPath: _, ...rest } = request();
      return web("addApplication", rest);
    },
    invalid("GitPath: value is required"),
  );
  add(
    "the path in config_path, as in the first operator",
    () => ({ gitPath: { repo: { id: "examples" }, configPath: "kubernetes/canary" } }),
    invalid(
      `GitPath: embedded message failed validation | caused by: invalid ApplicationGitPath.Path: ${tooShort}`,
    ),
  );
  add("path of one character", () => ({ gitPath: { ...gitPath, path: "a" } }), added);
  add(
    "absolute path",
    () => ({ gitPath: { ...gitPath, path: "/abs" } }),
    fails(3, "The path must be a relative path"),
  );
});

describe("reading and disabling", () => {
  const [one, two] = [() => applications[0] ?? "", () => applications[1] ?? ""];
  const get = (title: string, applicationId: () => string, expected: Expected, as = () => admin()) =>
    row(title, () => web("getApplication", { applicationId: applicationId() }, as()), expected);
  const notFound = fails(5, "The application is not found");
  const notOurs = fails(7, "Requested application doesn't belong to the project you logged in");

  get(
    "GetApplication",
    one,
    ok({
      application: {
        id: "<uuid>",
        name: "app",
        env_id: "e",
        piped_id: "<uuid>",
        project_id: "quickstart",
        git_path: {
          repo: { id: "examples", remote: "https://github.com/pipe-cd/examples.git", branch: "master" },
          path: "kubernetes/canary",
          config_filename: ".pipe.yaml",
          url: "https://github.com/pipe-cd/examples/tree/master/kubernetes/canary",
        },
        cloud_provider: "kubernetes-default",
        created_at: "<unix>",
        updated_at: "<unix>",
      },
    }),
  );
  get("GetApplication, unknown", () => randomUUID(), notFound);
  get("GetApplication, project other", one, notOurs, inOther);

  const call = (
    method: "enableApplication" | "disableApplication",
    title: string,
    expected: Expected,
    applicationId = one,
    as = () => admin(),
  ) => row(title, () => web(method, { applicationId: applicationId() }, as()), expected);
  call("disableApplication", "DisableApplication", ok({}));
  call("disableApplication", "disable twice", ok({}));
  call("disableApplication", "DisableApplication, unknown", notFound, () => randomUUID());
  call("disableApplication", "DisableApplication, project other", notOurs, one, inOther);

  type Options = NonNullable<
    Exclude<MessageInitShape<typeof ListApplicationsRequestSchema>, { $typeName: string }>["options"]
  >;
  const list = (title: string, options: Options | undefined, shows: readonly string[]) =>
    row(title, () => web("listApplications", options === undefined ? {} : { options }), ok(shows), {
      pick: (answer) =>
        ["one", "two"].filter((_, index) =>
          answer.applications.some(({ id }) => id === [one, two][index]?.()),
        ),
    });
  list("ListApplications without options", undefined, ["one", "two"]);
  list("list enabled=true", { enabled: true }, ["two"]);
  list("list enabled=false", { enabled: false }, ["one"]);
  list(
    "list kinds [CROSSPLANE, KUBERNETES] (only the first counts)",
    {
      kinds: [ApplicationKind.CROSSPLANE, ApplicationKind.KUBERNETES],
    },
    ["two"],
  );
  list("list env_ids [e, f] (only the first counts)", { envIds: ["e", "f"] }, ["one"]);
  list("list sync_statuses [SYNCED]", { syncStatuses: [ApplicationSyncStatus.SYNCED] }, []);
  call("enableApplication", "EnableApplication", ok({}));
  list("list enabled=true after that", { enabled: true }, ["one", "two"]);
});
