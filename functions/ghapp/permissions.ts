/**
 * Permissions of an Installation's tokens. With `apiPermissions` there are two kinds: the token in the Secret, for builds, can only
 * read the contents of one repository; tokens for GitHub's API exist only in the memory of a worker. Pure.
 */
import type { Installation } from "./kinds.ts";

type Spec = Pick<Installation["spec"], "permissions" | "apiPermissions">;
type Permissions = Readonly<Record<string, string>>;

/** How a function uses GitHub's API. */
export type Access = "read" | "write";

const clone: Permissions = { contents: "read" };

/** Permissions of the token in the Secret; undefined: all of the installation. */
export const storedPermissions = ({ permissions, apiPermissions }: Spec): Permissions | undefined =>
  apiPermissions === undefined ? permissions : clone;

/** Permissions of a token for the API. For read access all levels are reduced to read. */
export const apiPermissionsOf = ({ apiPermissions = {} }: Spec, access: Access): Permissions => ({
  ...clone,
  ...(access === "write"
    ? apiPermissions
    : Object.fromEntries(Object.keys(apiPermissions).map((name) => [name, "read"]))),
});

/** The union of the permissions of all tokens, which the App must allow. */
export const allPermissions = (spec: Spec): Permissions | undefined =>
  spec.apiPermissions === undefined ? spec.permissions : apiPermissionsOf(spec, "write");
