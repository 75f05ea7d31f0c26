import { expect, test } from "vitest";
import { allPermissions, apiPermissionsOf, storedPermissions } from "./permissions.ts";

const permissions = { contents: "read", pull_requests: "write" };
const apiPermissions = { pull_requests: "write", statuses: "write" };

test("uses one token for everything without apiPermissions", () => {
  expect(storedPermissions({ permissions })).toEqual(permissions);
  expect(allPermissions({ permissions })).toEqual(permissions);
  expect([storedPermissions({}), allPermissions({})]).toEqual([undefined, undefined]);
});

test("limits the token in the Secret to reading contents with apiPermissions", () => {
  expect(storedPermissions({ apiPermissions })).toEqual({ contents: "read" });
  expect(storedPermissions({ permissions: { contents: "read" }, apiPermissions })).toEqual({
    contents: "read",
  });
  expect(allPermissions({ apiPermissions })).toEqual({ contents: "read", ...apiPermissions });
});

test("reduces a token for read access to read permissions", () => {
  expect(apiPermissionsOf({ apiPermissions }, "read")).toEqual({
    contents: "read",
    pull_requests: "read",
    statuses: "read",
  });
  expect(apiPermissionsOf({ apiPermissions }, "write")).toEqual({ contents: "read", ...apiPermissions });
});
