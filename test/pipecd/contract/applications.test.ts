/** Section 6 of the recording, first half: adding and reading applications in v0.57.0. */
import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { describe } from "vitest";
import {
  type Application,
  ApplicationKind,
  ApplicationSyncStatus,
} from "../../../functions/pipecd/api/generated/c/model_pb.ts";
import type {
  AddApplicationRequestSchema,
  ListApplicationsRequestSchema,
} from "../../../functions/pipecd/api/generated/c/webservice_pb.ts";
import { openEnvironment } from "./environment.ts";
import { createFixtures, meta, pipedName } from "./fixtures.ts";
import { type Expected, fails, ok, row, tag } from "./rows.ts";
import { target } from "./target.ts";
import { pipedToken } from "./tokens.ts";

const environment = openEnvironment(() => target("C"));
const { web, api, piped, admin } = environment;
const fixtures = createFixtures(environment);

type Request = Exclude<MessageInitShape<typeof AddApplicationRequestSchema>, { $typeName: string }>;
const unknownId = randomUUID();
const labels = { env: "test-environment" };
const gitPath = { repo: { id: "examples" }, path: "kubernetes/canary", configFilename: "app.pipecd.yaml" };
const request = (): Request => ({
  name: "contract-app",
  pipedId: fixtures.piped,
  gitPath,
  kind: ApplicationKind.KUBERNETES,
  platformProvider: "kubernetes-default",
  description: "d",
  labels,
});
const repository = { id: "examples", remote: "https://github.com/pipe-cd/examples.git", branch: "master" };
const url = "https://github.com/pipe-cd/examples/tree/master/kubernetes/canary";
const added = ok({ application_id: "<uuid>" });
const inOther = () => admin({ project: environment.target.otherProject });
const noRepository = fails(5, "The requested repository is not found in the Piped configuration");
const foreign = fails(7, "Requested piped does not belong to your project");

/** Ids of applications by the title of the row that added them. */
const ids = new Map<string, string>();
const idOf = (name: string) => ids.get(name) ?? "";

const add = (title: string, changes: () => Partial<Request>, expected: Expected, as = () => admin()) =>
  row(title, () => web("addApplication", { ...request(), ...changes() }, as()), expected, {
    keep: ({ applicationId }) => ids.set(title, applicationId),
  });
const seeGitPath = (name: string, shows: object) =>
  row("… see", () => web("getApplication", { applicationId: idOf(name) }), ok(shows), {
    pick: ({ application }) =>
      application?.gitPath && { ...plain(application.gitPath), repo: plain(application.gitPath.repo) },
  });
const plain = (message: object | undefined) =>
  Object.fromEntries(
    Object.entries(message ?? {}).filter(([name, value]) => !name.startsWith("$") && value !== ""),
  );

describe("adding", () => {
  add("AddApplication before the piped reported its repositories", () => ({}), noRepository);
  row("same by APIService", () => api("addApplication", request(), fixtures.writer), noRepository);
  row(
    "piped reports meta",
    () =>
      piped(
        "reportPipedMeta",
        meta,
        pipedToken(environment.target.project, fixtures.piped, fixtures.pipedKey),
      ),
    ok("contract-piped"),
    { pick: ({ name }) => (name === pipedName ? "contract-piped" : name) },
  );
  add("AddApplication", () => ({}), added);
  row(
    "GetApplication",
    () => web("getApplication", { applicationId: idOf("AddApplication") }),
    ok({
      application: {
        id: "<uuid>",
        name: "contract-app",
        piped_id: "<uuid>",
        project_id: "quickstart",
        git_path: { repo: repository, path: "kubernetes/canary", config_filename: "app.pipecd.yaml", url },
        cloud_provider: "kubernetes-default",
        description: "d",
        labels,
        platform_provider: "kubernetes-default",
        created_at: "<unix>",
        updated_at: "<unix>",
      },
    }),
  );
  add("duplicate application (same name and path)", () => ({}), added);
  add("wrong repo id", () => ({ gitPath: { ...gitPath, repo: { id: "example" } } }), noRepository);
  const noUrl = fails(13, "Failed to make GitPath URL");
  add("repo without branch", () => ({ gitPath: { ...gitPath, repo: { id: "nobranch" } } }), noUrl);
  add("repo remote is a local path", () => ({ gitPath: { ...gitPath, repo: { id: "localrepo" } } }), noUrl);
  const evil = { id: "examples", remote: "git@evil:x", branch: "zzz" };
  add(
    "client remote/branch ignored",
    () => ({ name: "ign", platformProvider: "", gitPath: { ...gitPath, repo: evil, url: "http://x" } }),
    added,
  );
  seeGitPath("client remote/branch ignored", {
    repo: repository,
    path: "kubernetes/canary",
    configFilename: "app.pipecd.yaml",
    url,
  });
  add(
    "repo remote git@host:path",
    () => ({ name: "short", gitPath: { ...gitPath, repo: { id: "short" } } }),
    added,
  );
  seeGitPath("repo remote git@host:path", {
    repo: { id: "short", remote: "git@github.com:pipe-cd/examples.git", branch: "master" },
    path: "kubernetes/canary",
    configFilename: "app.pipecd.yaml",
    url,
  });
  add("repo remote file://", () => ({ name: "file", gitPath: { ...gitPath, repo: { id: "file" } } }), added);
  seeGitPath("repo remote file://", {
    repo: { id: "file", remote: "file:///srv/examples.git", branch: "main" },
    path: "kubernetes/canary",
    configFilename: "app.pipecd.yaml",
    url: "file:///srv/examples/tree/main/kubernetes/canary",
  });
});

describe("validation", () => {
  const invalid = (rest: string) => fails(3, `invalid request: invalid AddApplicationRequest.${rest}`);
  const embedded = (rest: string) =>
    invalid(`GitPath: embedded message failed validation | caused by: invalid ApplicationGitPath.${rest}`);
  const path = embedded('Path: value does not match regex pattern "^[^/].+$"');
  const withPath = (value: string) => () => ({ gitPath: { ...gitPath, path: value } });

  row(
    "empty request",
    () => web("addApplication", {}),
    invalid("Name: value length must be at least 1 runes"),
  );
  add("no name", () => ({ name: "" }), invalid("Name: value length must be at least 1 runes"));
  add("no piped_id", () => ({ pipedId: "" }), invalid("PipedId: value length must be at least 1 runes"));
  row(
    "no git_path",
    () => {
      const { gitPath: _, ...rest } = request();
      return web("addApplication", rest);
    },
    invalid("GitPath: value is required"),
  );
  add(
    "git_path without repo",
    () => ({ gitPath: { path: gitPath.path } }),
    embedded("Repo: value is required"),
  );
  add(
    "git_path.repo.id empty",
    () => ({ gitPath: { ...gitPath, repo: {} } }),
    embedded(
      "Repo: embedded message failed validation | caused by: invalid ApplicationGitRepository.Id: value length must be at least 1 runes",
    ),
  );
  add("git_path.path empty", withPath(""), path);
  add("git_path.path /abs", withPath("/abs"), path);
  add("git_path.path one char", withPath("a"), path);
  add('git_path.path "."', withPath("."), path);
  add('git_path.path "./" (repo root)', () => ({ name: "root", gitPath: { ...gitPath, path: "./" } }), added);
  seeGitPath('git_path.path "./" (repo root)', {
    repo: repository,
    path: "./",
    configFilename: "app.pipecd.yaml",
    url: "https://github.com/pipe-cd/examples/tree/master/.",
  });
  add(
    "config_filename omitted",
    () => ({ name: "nofile", gitPath: { repo: { id: "examples" }, path: gitPath.path } }),
    added,
  );
  seeGitPath("config_filename omitted", { repo: repository, path: "kubernetes/canary", url });
  add(
    "config_filename bad suffix",
    () => ({ name: "badfile", gitPath: { ...gitPath, configFilename: "x.txt" } }),
    added,
  );
  add("kind omitted = KUBERNETES", () => ({ name: "nokind", kind: 0 }), added);
  const kind = invalid("Kind: value must be one of the defined enum values");
  add("kind 2 (CROSSPLANE)", () => ({ kind: 2 as number as ApplicationKind }), kind);
  add("kind 99", () => ({ kind: 99 as number as ApplicationKind }), kind);
  add("platform_provider omitted", () => ({ name: "noprov", platformProvider: "" }), added);
  add("platform_provider unknown to the piped", () => ({ name: "unkprov", platformProvider: "nope" }), added);
  add("name 50 chars", () => ({ name: "a".repeat(50) }), added);
  add("name 51 chars", () => ({ name: "a".repeat(51) }), fails(13, "Failed to add application <uuid>"));
  add("unknown piped", () => ({ pipedId: unknownId }), fails(5, "Piped is not found"));
  add("piped of another project", () => ({ pipedId: fixtures.otherPiped }), foreign);
  add("wrong project in the JWT", () => ({}), foreign, inOther);
  add("label with empty value / key", () => ({ name: "lbl", labels: { a: "", "": "b" } }), added);
});

describe("lists", () => {
  type Options = NonNullable<
    Exclude<MessageInitShape<typeof ListApplicationsRequestSchema>, { $typeName: string }>["options"]
  >;
  const names = (applications: readonly Application[]) =>
    applications
      .filter(({ id }) => [...ids.values()].includes(id))
      .map(({ name }) => name)
      .sort();
  const list = (title: string, options: () => Options, shows: readonly string[], as = () => admin()) =>
    row(title, () => web("listApplications", { options: options() }, as()), ok(shows), {
      pick: ({ applications }) => names(applications),
    });
  const all = [
    ...["a".repeat(50), "badfile", "contract-app", "contract-app", "file", "ign"],
    ...["lbl", "nofile", "nokind", "noprov", "root", "short", "unkprov"],
  ].map((name) => (name.length === 50 ? "<50 chars [a-z0-9]>" : name));
  const both = ["contract-app", "contract-app"];

  list("list, options {}", () => ({}), all);
  list("list enabled=true", () => ({ enabled: true }), all);
  list("list enabled=false", () => ({ enabled: false }), []);
  list("list name", () => ({ name: "contract-app" }), both);
  list("list name, in other letters", () => ({ name: "Cöntract-APP" }), both);
  list("list name, with a space behind it", () => ({ name: "contract-app " }), []);
  list("list labels", () => ({ labels, name: "contract-app" }), both);
  list("list labels no match", () => ({ labels: { env: "zz" } }), []);
  list("list piped_id", () => ({ pipedId: fixtures.piped, name: "ign" }), ["ign"]);
  list("list piped_id, upper case", () => ({ pipedId: fixtures.piped.toUpperCase(), name: "ign" }), ["ign"]);
  list("list unknown piped_id", () => ({ pipedId: unknownId }), []);
  list("list kinds [TERRAFORM]", () => ({ kinds: [ApplicationKind.TERRAFORM] }), []);
  list(
    "list kinds [TERRAFORM,KUBERNETES] (only the first counts)",
    () => ({ kinds: [ApplicationKind.TERRAFORM, ApplicationKind.KUBERNETES] }),
    [],
  );
  const { UNKNOWN, SYNCED } = ApplicationSyncStatus;
  list("list sync_statuses [UNKNOWN]", () => ({ syncStatuses: [UNKNOWN], name: "ign" }), ["ign"]);
  list("list sync_statuses [SYNCED]", () => ({ syncStatuses: [SYNCED] }), []);
  list("list, project other", () => ({}), [], inOther);
  list(
    "list, Viewer",
    () => ({ name: "ign" }),
    ["ign"],
    () => admin({ role: "Viewer" }),
  );

  const get = (title: string, applicationId: () => string, expected: Expected, as = () => admin()) =>
    row(title, () => web("getApplication", { applicationId: applicationId() }, as()), expected);
  get("get unknown", () => unknownId, fails(5, "Application is not found"));
  get("get not a uuid", () => `x${tag}`, fails(5, "Application is not found"));
  get(
    "get empty",
    () => "",
    fails(
      3,
      "invalid request: invalid GetApplicationRequest.ApplicationId: value length must be at least 1 runes",
    ),
  );
  get(
    "get, wrong project",
    () => idOf("AddApplication"),
    fails(7, "Requested application does not belong to your project"),
    inOther,
  );
});
