import { expect, test } from "vitest";
import { furtherNamespaces, mergeRoles, type ProjectRoles } from "./projectroles.ts";

const project = (name: string, fn: string): ProjectRoles => ({
  project: name,
  functions: [fn],
  roles: [
    { name: "bridge", account: "bus", permissions: { publish: ["shared", `of.${fn}`], subscribe: [] } },
    { name: fn, account: "own", permissions: { publish: [`of.${fn}`], subscribe: ["all"] } },
  ],
});

test("roles of the platform have the rights for all projects, and those of functions only their own", () => {
  expect(mergeRoles([project("a", "apple"), project("b", "pear")])).toEqual([
    {
      name: "bridge",
      account: "bus",
      permissions: { publish: ["of.apple", "of.pear", "shared"], subscribe: [] },
    },
    { name: "apple", account: "own", permissions: { publish: ["of.apple"], subscribe: ["all"] } },
    { name: "pear", account: "own", permissions: { publish: ["of.pear"], subscribe: ["all"] } },
  ]);
});

test("one project may have several clusters, but two projects no function of the same name", () => {
  expect(mergeRoles([project("a", "apple"), project("a", "apple")])).toHaveLength(2);
  expect(() => mergeRoles([project("a", "apple"), project("b", "apple")])).toThrow(
    'the projects "a" and "b" both have a function apple',
  );
});

test("a project in another namespace than the bus is named once", () => {
  const at = (namespace: string | undefined) => ({ ...project("a", "apple"), namespace });
  expect(furtherNamespaces([at(undefined), at("here"), at("pears"), at("pears")], "here")).toEqual(["pears"]);
});
