import { describe, expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Application } from "../kinds.ts";
import type { Place } from "./place.ts";
import { blockerOf, cycleOf, isOldest } from "./placeclaims.ts";

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
  blockerOf(mine, [mine, other], place, "C")?.claim;

const mine = application("mine", 2);
const announced = application("mine", 2, { status: { registering: place } });
const here = { applicationID: "1", registered: place };

describe("an Application", () => {
  test.each([
    ["waits for an older one that wants its place", application("other", 1), "desired"],
    [
      "waits for the one with the lower uid when both were created in the same second",
      application("lesser", 2),
      "desired",
    ],
    ["does not wait for a younger one that wants its place", application("other", 3), undefined],
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
      "waits for one that has moved, until PipeCD has deleted its former application",
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
      "waits for one whose path is equal after normalization",
      application("other", 1, { spec: { path: "./kubernetes//canary/" } }),
      "desired",
    ],
    [
      "waits for one that sets the default file",
      application("other", 1, { spec: { configFilename: "app.pipecd.yaml" } }),
      "desired",
    ],
    [
      "does not wait for one with another file",
      application("other", 1, { spec: { configFilename: "b.pipecd.yaml" } }),
      undefined,
    ],
    [
      "does not wait for one with another path",
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

describe("an Application that has announced its place", () => {
  test.each([
    ["does not wait for an older one, which sees the announcement", application("other", 1), undefined],
    [
      "waits for an older one that has announced it too",
      application("other", 1, { status: { registering: place } }),
      "announced",
    ],
    [
      "waits for a younger one that has announced it too",
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
  expect(blockerOf(mine, others, place, "C")?.other.metadata.name).toBe("first");
});

describe("a cycle of Applications that have each other's places", () => {
  const stuck = [
    { type: "Ready", status: "False", reason: "PlaceTaken", message: "", lastTransitionTime: "" } as const,
  ];
  /** An Application that is registered at one path and wants another one. */
  const moving = (name: string, from: string, to: string, more: Partial<Application["status"]> = {}) => {
    const found = application(name, Number(name), {
      spec: { path: to },
      status: {
        applicationID: name,
        registered: { ...place, path: from },
        conditions: stuck,
        observedGeneration: 2,
        ...more,
      },
    });
    return { ...found, metadata: { ...found.metadata, generation: 2 } };
  };
  const pipeds = new Map([["p", "p-1"]]);
  const cycle = (...all: [Stored<Application>, ...Stored<Application>[]]) =>
    cycleOf(all[0], all, { ...place, path: all[0].spec.path }, "C", pipeds)?.map(
      ({ metadata }) => metadata.name,
    );

  test("is found from each Application", () => {
    const [a, b, c] = [moving("1", "x", "y"), moving("2", "y", "z"), moving("3", "z", "./x/")];
    expect(cycle(a, b, c)).toEqual(["1", "2", "3"]);
    expect(cycle(c, a, b)).toEqual(["3", "1", "2"]);
    expect([a, b, c].map((one) => isOldest(one, [a, b, c]))).toEqual([true, false, false]);
  });
  test("is not found while another Application has a place, or a place is free", () => {
    const [a, b] = [moving("1", "x", "y"), moving("2", "y", "z")];
    expect(cycle(a, b)).toBeUndefined();
    expect(cycle(a, b, moving("3", "z", "y"))).toBeUndefined();
  });
  test("is not found while one of them may wait for something else", () => {
    const a = moving("1", "x", "y");
    expect(cycle(a, moving("2", "y", "x"))).toEqual(["1", "2"]);
    expect(cycle(a, moving("2", "y", "x", { conditions: [] }))).toBeUndefined();
    expect(cycle(a, moving("2", "y", "x", { observedGeneration: 1 }))).toBeUndefined();
    const leaving = moving("2", "y", "x");
    leaving.metadata.deletionTimestamp = "2026-02-01T00:00:00Z";
    expect(cycle(a, leaving)).toBeUndefined();
  });
});
