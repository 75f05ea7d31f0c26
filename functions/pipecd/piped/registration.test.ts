import { expect, test } from "vitest";
import type { PipecdClient } from "../api/services.ts";
import { canBecome, type Wanted } from "./registration.ts";

const last: Wanted = { name: "p", description: "d", projectID: "q", environmentID: "e" };
const fixed = { pipeds: { update: undefined } } as unknown as PipecdClient;
const free = { pipeds: { update: async () => {} } } as unknown as PipecdClient;

test.each<readonly [string, Partial<Wanted>, old: boolean, current: boolean]>([
  ["nothing", {}, true, true],
  // Up to v0.9.0 it can not be told, but that is no reason to begin anew.
  ["its description", { description: "other" }, true, true],
  ["its name", { name: "other" }, false, true],
  ["its environment", { environmentID: "other" }, false, true],
  ["its project", { projectID: "other" }, false, false],
])("of a piped %s can change: up to v0.9.0 and from v0.49.0", (_, change, old, current) => {
  expect(canBecome(last, { ...last, ...change }, fixed)).toBe(old);
  expect(canBecome(last, { ...last, ...change }, free)).toBe(current);
});

test("one that is in no environment has not changed it", () => {
  const { environmentID: _, ...without } = last;
  expect(canBecome(without, { ...without }, fixed)).toBe(true);
  expect(canBecome(without, last, fixed)).toBe(false);
});
