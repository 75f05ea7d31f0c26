/** Section 7 of the recording, first half: adding and listing applications with the APIService of v0.57.0. */
import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { describe } from "vitest";
import type {
  AddApplicationRequestSchema,
  ListApplicationsRequestSchema,
} from "../../../functions/pipecd/api/generated/c/apiservice_pb.ts";
import type { Application } from "../../../functions/pipecd/api/generated/c/model_pb.ts";
import { openEnvironment } from "./environment.ts";
import { createFixtures, reportPiped } from "./fixtures.ts";
import { type Expected, fails, ok, row, tag } from "./rows.ts";
import { target } from "./target.ts";

const environment = openEnvironment(() => target("C"));
const { api } = environment;
const fixtures = createFixtures(environment);
reportPiped(environment, fixtures);

const unknownId = randomUUID();
const writer = () => fixtures.writer;
const reader = () => fixtures.reader;
const other = () => fixtures.otherWriter;
const refused = fails(7, "Permission denied");
const tooShort = (field: string) =>
  fails(3, `invalid request: invalid ${field}: value length must be at least 1 runes`);

type Request = Exclude<MessageInitShape<typeof AddApplicationRequestSchema>, { $typeName: string }>;
type ListRequest = Exclude<MessageInitShape<typeof ListApplicationsRequestSchema>, { $typeName: string }>;
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
const ids = { app: "" };
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

describe("7: applications", () => {
  add("AddApplication", () => ({}), done, writer, "app");
  add("AddApplication, READ_ONLY key", () => ({}), refused, reader);
  add("AddApplication, other project key", () => ({}), foreignPiped, other);
  add(
    "AddApplication, wrong repo",
    () => ({ gitPath: { ...gitPath, repo: { id: "example" } } }),
    fails(5, "The requested repository is not found in the Piped configuration"),
  );
  row(
    "AddApplication, no git_path",
    () => {
      const { gitPath: _, ...rest } = request();
      return api("addApplication", rest, writer());
    },
    fails(3, "invalid request: invalid AddApplicationRequest.GitPath: value is required"),
  );
  row(
    "AddApplication, empty",
    () => api("addApplication", {}, writer()),
    tooShort("AddApplicationRequest.Name"),
  );

  const get = (title: string, applicationId: () => string, expected: Expected, key = writer) =>
    row(title, () => api("getApplication", { applicationId: applicationId() }, key()), expected);
  get(
    "GetApplication",
    () => ids.app,
    ok({
      application: {
        id: "<uuid>",
        name: "api-app",
        piped_id: "<uuid>",
        project_id: "quickstart",
        git_path: {
          repo: { id: "examples", remote: "https://github.com/pipe-cd/examples.git", branch: "master" },
          path: "kubernetes/canary",
          config_filename: "app.pipecd.yaml",
          url: "https://github.com/pipe-cd/examples/tree/master/kubernetes/canary",
        },
        cloud_provider: "kubernetes-default",
        description: "d",
        labels: { env: "test-environment" },
        platform_provider: "kubernetes-default",
        created_at: "<unix>",
        updated_at: "<unix>",
      },
    }),
    reader,
  );
  get("GetApplication, other project", () => ids.app, foreign, other);
  get("GetApplication unknown", () => unknownId, gone);
  get("GetApplication empty", () => "", tooShort("GetApplicationRequest.ApplicationId"));
});

describe("7: lists", () => {
  const names = (applications: readonly Application[]) =>
    applications
      .filter(({ pipedId }) => pipedId === fixtures.piped)
      .map(({ name }) => name)
      .sort();
  const list = (title: string, some: () => ListRequest, expected: Expected) =>
    row(title, () => api("listApplications", some(), reader()), expected, {
      pick: ({ applications, cursor }) => ({ apps: names(applications), cursor: cursor === "" ? "" : "set" }),
    });
  const one = { apps: ["api-app"], cursor: "" };

  for (const name of ["second", "third", "fourth"]) {
    add(`(AddApplication ${name})`, () => ({ name: `${name}${tag}` }), done);
  }
  list("list {}", () => ({}), ok({ apps: ["api-app", "fourth", "second", "third"], cursor: "" }));
  list("list name", () => ({ name: `api-app${tag}` }), ok(one));
  row("list limit 2", () => api("listApplications", { limit: 2 }, reader()), ok({ apps: 2, cursor: "" }), {
    pick: ({ applications, cursor }) => ({ apps: applications.length, cursor }),
  });
  list(
    "list disabled=true",
    () => ({ disabled: true, pipedId: fixtures.piped }),
    ok({ apps: [], cursor: "" }),
  );
  list("list kind KUBERNETES", () => ({ kind: "KUBERNETES", name: `api-app${tag}` }), ok(one));
  list("list kind Kubernetes (case)", () => ({ kind: "Kubernetes" }), fails(3, "Invalid application kind"));
  list(
    "list labels, limit 0",
    () => ({ labels, name: `api-app${tag}` }),
    ok({ apps: ["api-app"], cursor: "set" }),
  );
  list("list bad cursor", () => ({ cursor: "!!" }), fails(13, "Failed to failed to list applications"));
  list(
    "list labels no match, limit as many as there are",
    () => ({ labels: { env: "zz" }, limit: 4, pipedId: fixtures.piped }),
    ok({ apps: [], cursor: "" }),
  );

  /** Pages of one item: the first application is random, but none appears twice. */
  const seen: string[] = [];
  let cursor = "";
  for (const page of [1, 2, 3, 4]) {
    row(
      page === 1 ? "list labels, limit 1" : `list page ${page} by cursor`,
      () => api("listApplications", { labels, limit: 1, pipedId: fixtures.piped, cursor }, reader()),
      ok({ apps: 1, isNew: true, cursor: "set" }),
      {
        pick: ({ applications, cursor: next }) => ({
          apps: applications.length,
          isNew: applications.every(({ id }) => !seen.includes(id)),
          cursor: next === "" ? "" : "set",
        }),
        keep({ applications, cursor: next }) {
          seen.push(...applications.map(({ id }) => id));
          cursor = next;
        },
      },
    );
  }
  row(
    "list page 5 by cursor: nothing is left",
    () => api("listApplications", { labels, limit: 1, pipedId: fixtures.piped, cursor }, reader()),
    ok({}),
  );
});
