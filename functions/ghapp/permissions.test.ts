import { expect, test } from "vitest";
import { allPermissions, apiPermissionsOf, storedPermissions } from "./permissions.ts";

const permissions = { contents: "read", pull_requests: "write" };
const apiPermissions = { pull_requests: "write", statuses: "write" };

test("an Installation without apiPermissions has one token, as before", () => {
  expect(storedPermissions({ permissions })).toEqual(permissions);
  expect(allPermissions({ permissions })).toEqual(permissions);
  expect([storedPermissions({}), allPermissions({})]).toEqual([undefined, undefined]);
});

test("with apiPermissions the token in the Secret reads contents, whatever the API is for", () => {
  expect(storedPermissions({ apiPermissions })).toEqual({ contents: "read" });
  expect(storedPermissions({ permissions: { contents: "read" }, apiPermissions })).toEqual({
    contents: "read",
  });
  expect(allPermissions({ apiPermissions })).toEqual({ contents: "read", ...apiPermissions });
});

test("a token for the API that is to read only may write nothing", () => {
  expect(apiPermissionsOf({ apiPermissions }, "read")).toEqual({
    contents: "read",
    pull_requests: "read",
    statuses: "read",
  });
  expect(apiPermissionsOf({ apiPermissions }, "write")).toEqual({ contents: "read", ...apiPermissions });
});
