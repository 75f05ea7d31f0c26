/** The page contains the API paths of kinds, but not their schemas, which would make it larger. */
import { expect, test } from "vitest";
import { kindsOf } from "../../bus/worker/function.ts";
import * as own from "../../dashboard/web/src/api/resource.ts";
import * as github from "../../dashboard/web/src/github/resources.ts";
import * as pipecd from "../../dashboard/web/src/pipecd/resources.ts";
import * as zundoko from "../../dashboard/web/src/zundoko/resources.ts";
import { functions } from "../../functions/index.ts";

const known = new Set(
  functions
    .flatMap(kindsOf)
    .map(({ group, version, kind, plural }) => `${kind} ${group}/${version} ${plural}`),
);
const ours = [own, github, pipecd, zundoko]
  .flatMap((module): unknown[] => Object.values(module))
  .filter((value): value is own.Resource => typeof value === "object")
  .filter(({ group }) => group.includes(".") && !group.endsWith(".k8s.io"));

test.each(ours)("the page has the right path for $kind in $group", ({ group, version, kind, plural }) => {
  expect(known).toContain(`${kind} ${group}/${version} ${plural}`);
});
