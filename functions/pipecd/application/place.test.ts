import { expect, test } from "vitest";
import type { ApplicationRecord } from "../api/model.ts";
import { isAt } from "./place.ts";

const record: ApplicationRecord = {
  id: "id",
  name: "a",
  kind: "KUBERNETES",
  pipedID: "p",
  provider: "kubernetes-default",
  repository: "examples",
  path: "kubernetes/canary",
  configFilename: "app.pipecd.yaml",
  disabled: false,
  deleted: false,
};
const place = {
  name: "a",
  projectID: "q",
  pipedID: "p",
  repository: "examples",
  path: "kubernetes/canary",
  kind: "KUBERNETES",
  configFilename: "app.pipecd.yaml",
  provider: "kubernetes-default",
} as const;

test.each<readonly [string, Partial<ApplicationRecord>]>([
  ["nothing", {}],
  // A piped overwrites the name with what the repository says.
  ["its name", { name: "of the repository" }],
  ["its provider, which can be changed", { provider: "other" }],
  ["whether it is disabled", { disabled: true }],
])("a record is at its place, whatever is different of it: %s", (_, change) => {
  expect(isAt({ ...record, ...change }, place)).toBe(true);
});

test.each<readonly [string, Partial<ApplicationRecord>]>([
  ["repository", { repository: "other" }],
  ["path", { path: "kubernetes" }],
  ["file", { configFilename: "other.pipecd.yaml" }],
  ["kind", { kind: "TERRAFORM" }],
  ["kind, which nobody here knows", { kind: undefined }],
  ["file, which PipeCD takes for .pipe.yaml", { configFilename: "" }],
])("a record is not at the place of another %s", (_, change) => {
  expect(isAt({ ...record, ...change }, place)).toBe(false);
});

test("a record without a file is that of .pipe.yaml", () => {
  expect(isAt({ ...record, configFilename: "" }, { ...place, configFilename: ".pipe.yaml" })).toBe(true);
});
