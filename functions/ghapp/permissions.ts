/**
 * What tokens of an Installation may do. With `apiPermissions` there are two kinds: the one in the Secret, which builds get, reads
 * the contents of one repository; those for GitHub's API are made in the memory of a worker, and written nowhere. Pure.
 */
import type { Installation } from "./kinds.ts";

type Spec = Pick<Installation["spec"], "permissions" | "apiPermissions">;
type Permissions = Readonly<Record<string, string>>;

/** How a function uses GitHub's API. */
export type Access = "read" | "write";

const clone: Permissions = { contents: "read" };

/** What the token in the Secret may do; undefined: all that the installation may. */
export const storedPermissions = ({ permissions, apiPermissions }: Spec): Permissions | undefined =>
  apiPermissions === undefined ? permissions : clone;

/** What a token for the API may do. One that is to read only gets nothing more, whatever is allowed. */
export const apiPermissionsOf = ({ apiPermissions = {} }: Spec, access: Access): Permissions => ({
  ...clone,
  ...(access === "write"
    ? apiPermissions
    : Object.fromEntries(Object.keys(apiPermissions).map((name) => [name, "read"]))),
});

/** All that any token of the Installation may do, which the App has to allow. */
export const allPermissions = (spec: Spec): Permissions | undefined =>
  spec.apiPermissions === undefined ? spec.permissions : apiPermissionsOf(spec, "write");
