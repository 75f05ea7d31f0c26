import { expect, test } from "vitest";
import type { PipecdClient } from "../api/services.ts";
import { canBecome } from "./registration.ts";

const record = { name: "p", environmentIDs: ["e"] };
const wanted = { name: "p", environmentID: "e" };
const fixed = { pipeds: { update: undefined } } as unknown as PipecdClient;
const free = { pipeds: { update: async () => {} } } as unknown as PipecdClient;

test.each<readonly [string, Partial<typeof wanted>, old: boolean]>([
  ["nothing", {}, true],
  ["its name", { name: "other" }, false],
  ["its environment", { environmentID: "other" }, false],
])("v0.37.1 and later can change %s of a piped, and v0.9.0 cannot", (_, change, old) => {
  expect(canBecome(record, { ...wanted, ...change }, fixed)).toBe(old);
  expect(canBecome(record, { ...wanted, ...change }, free)).toBe(true);
});

test("a piped without an environment matches only if none is desired", () => {
  expect(canBecome({ name: "p", environmentIDs: [] }, { name: "p" }, fixed)).toBe(true);
  expect(canBecome({ name: "p", environmentIDs: [] }, wanted, fixed)).toBe(false);
});
