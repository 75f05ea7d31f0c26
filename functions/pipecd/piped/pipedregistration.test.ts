import { expect, test } from "vitest";
import type { PipecdClient } from "../api/services.ts";
import { canUpdateTo } from "./pipedregistration.ts";

const record = { name: "p", environmentIDs: ["e"] };
const desired = { name: "p", environmentID: "e" };
const fixed = { pipeds: { update: undefined } } as unknown as PipecdClient;
const free = { pipeds: { update: async () => {} } } as unknown as PipecdClient;

test.each<readonly [string, Partial<typeof desired>, old: boolean]>([
  ["nothing", {}, true],
  ["its name", { name: "other" }, false],
  ["its environment", { environmentID: "other" }, false],
])("v0.37.1 and later can change %s of a piped, and v0.9.0 cannot", (_, change, old) => {
  expect(canUpdateTo(record, { ...desired, ...change }, fixed)).toBe(old);
  expect(canUpdateTo(record, { ...desired, ...change }, free)).toBe(true);
});

test("a piped without an environment matches only if none is desired", () => {
  expect(canUpdateTo({ name: "p", environmentIDs: [] }, { name: "p" }, fixed)).toBe(true);
  expect(canUpdateTo({ name: "p", environmentIDs: [] }, desired, fixed)).toBe(false);
});
