import { describe, expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Application } from "../kinds.ts";
import type { Place } from "./place.ts";
import { inTheWay } from "./turn.ts";

const place: Place = {
  name: "a",
  projectID: "q",
  pipedID: "p-1",
  repository: "examples",
  path: "kubernetes/canary",
  kind: "KUBERNETES",
  configFilename: "app.pipecd.yaml",
  provider: "kubernetes-default",
};
const elsewhere: Place = { ...place, path: "kubernetes/simple" };

const application = (
  name: string,
  day: number,
  {
    spec = {},
    status = {},
    isDeleted = false,
  }: {
    readonly spec?: Partial<Application["spec"]>;
    readonly status?: Application["status"];
    readonly isDeleted?: boolean;
  } = {},
): Stored<Application> => ({
  apiVersion: "pipecd.kanatakita.com/v1alpha1",
  kind: "Application",
  metadata: {
    name,
    uid: name,
    resourceVersion: "1",
    creationTimestamp: `2026-01-0${day}T00:00:00Z`,
    ...(isDeleted && { deletionTimestamp: "2026-02-01T00:00:00Z" }),
  },
  spec: {
    name,
    projectID: "q",
    kind: "Kubernetes",
    environmentRef: { objectName: "e", name: "e" },
    pipedRef: { objectName: "p", name: "p" },
    repository: "examples",
    path: "kubernetes/canary",
    ...spec,
  },
  status,
});
const claimOf = (mine: Stored<Application>, other: Stored<Application>) =>
  inTheWay(mine, [mine, other], place, "C")?.claim;

const mine = application("mine", 2);
const announced = application("mine", 2, { status: { registering: place } });
const here = { applicationID: "1", registered: place };

describe("an Application", () => {
  test.each([
    ["waits for an older one that is to be at its place", application("other", 1), "wanted"],
    [
      "waits for the one of the lesser uid when both are of the same second",
      application("lesser", 2),
      "wanted",
    ],
    ["does not wait for a younger one that is to be there", application("other", 3), undefined],
    [
      "waits for a younger one that is registered there",
      application("other", 3, { status: here }),
      "registered",
    ],
    [
      "waits for a younger one that is being registered",
      application("other", 3, { status: { registering: place } }),
      "announced",
    ],
    [
      "waits for one that went elsewhere, until PipeCD has deleted its former application",
      application("other", 3, {
        spec: { path: elsewhere.path },
        status: {
          applicationID: "2",
          registered: elsewhere,
          former: [{ applicationID: "1", registered: place }],
        },
      }),
      "registered",
    ],
    [
      "waits for one that is being deleted and is still registered",
      application("other", 1, { status: here, isDeleted: true }),
      "registered",
    ],
    [
      "does not wait for one that is being deleted and was never registered",
      application("other", 1, { isDeleted: true }),
      undefined,
    ],
    [
      "waits for one whose path is written in another way",
      application("other", 1, { spec: { path: "./kubernetes//canary/" } }),
      "wanted",
    ],
    [
      "waits for one that names the default file",
      application("other", 1, { spec: { configFilename: "app.pipecd.yaml" } }),
      "wanted",
    ],
    [
      "does not wait for one of another file",
      application("other", 1, { spec: { configFilename: "b.pipecd.yaml" } }),
      undefined,
    ],
    [
      "does not wait for one of another path",
      application("other", 1, { spec: { path: "kubernetes" } }),
      undefined,
    ],
    [
      "does not wait for one of another repository",
      application("other", 1, { spec: { repository: "r" } }),
      undefined,
    ],
    [
      "does not wait for one of another agent",
      application("other", 1, { spec: { pipedRef: { objectName: "o", name: "o" } } }),
      undefined,
    ],
    [
      "does not wait for one of another project",
      application("other", 1, { spec: { projectID: "r" } }),
      undefined,
    ],
    ["does not wait for itself", mine, undefined],
  ])("%s", (_, other, claim) => {
    expect(claimOf(mine, other)).toBe(claim);
  });
});

describe("one that has announced its place", () => {
  test.each([
    ["does not wait for an older one, which sees the announcement", application("other", 1), undefined],
    [
      "waits for an older one that has announced it as well",
      application("other", 1, { status: { registering: place } }),
      "announced",
    ],
    [
      "waits for a younger one that has announced it as well",
      application("other", 3, { status: { registering: place } }),
      "announced",
    ],
    ["waits for one that is registered", application("other", 3, { status: here }), "registered"],
  ])("%s", (_, other, claim) => {
    expect(claimOf(announced, other)).toBe(claim);
  });
});

test("names the oldest of several", () => {
  const others = [application("third", 1, { status: { registering: place } }), application("first", 1), mine];
  expect(inTheWay(mine, others, place, "C")?.other.metadata.name).toBe("first");
});
