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
  // A piped overwrites the name with the one in the repository.
  ["its name", { name: "of the repository" }],
  ["its provider", { provider: "other" }],
  ["disabled", { disabled: true }],
])("a record stays at its place after a change of %s", (_, change) => {
  expect(isAt({ ...record, ...change }, place)).toBe(true);
});

test.each<readonly [string, Partial<ApplicationRecord>]>([
  ["repository", { repository: "other" }],
  ["path", { path: "kubernetes" }],
  ["file", { configFilename: "other.pipecd.yaml" }],
  ["kind", { kind: "TERRAFORM" }],
  ["kind, which is unknown", { kind: undefined }],
  ["file, which is empty and means .pipe.yaml", { configFilename: "" }],
])("a record is not at the place if it has another %s", (_, change) => {
  expect(isAt({ ...record, ...change }, place)).toBe(false);
});

test("a record without a file name means .pipe.yaml", () => {
  expect(isAt({ ...record, configFilename: "" }, { ...place, configFilename: ".pipe.yaml" })).toBe(true);
});
