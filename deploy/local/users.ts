/** Roles and users of a local bus: one user per role and an administrator, with new random passwords for each run. */
import { randomBytes } from "node:crypto";
import { busRoles, type Role, userOf } from "denrei/bus";
import { openProject, subscriptionsOf } from "denrei/runtime";
import type { NatsUser } from "../authorization.ts";

/** Has all rights. For the process that started the platform. */
export const adminRole: Role = { name: "admin", permissions: undefined, account: "bus" };

/** The users of a run. */
export interface LocalUsers {
  readonly users: readonly NatsUser[];
  /** The URL with user and password of a role. Throws when the role is unknown. */
  urlFor(role: string, url: string): string;
}

/** Creates passwords for the roles. */
export function localUsers(roles: readonly Role[]): LocalUsers {
  const all = new Map([...roles, adminRole].map((role) => [role.name, role]));
  const passwords = new Map([...all.keys()].map((name) => [name, randomBytes(24).toString("base64url")]));
  return {
    users: [...all.values()].map((role) => ({
      ...role,
      user: userOf(role.name),
      password: passwords.get(role.name) ?? "",
    })),
    urlFor(role, url) {
      const password = passwords.get(role);
      if (password === undefined) {
        throw new Error(
          `unknown role "${role}" of the local bus. Known roles: ${[...passwords.keys()].join(", ")}`,
        );
      }
      return url.replace("://", `://${userOf(role)}:${password}@`);
    },
  };
}

/**
 * The roles of the project's functions in a cluster. The call loads all functions, so a platform for developing functions must not
 * use it.
 */
export async function projectRoles(cluster = "default"): Promise<Role[]> {
  const functions = await (await openProject()).all();
  return busRoles(subscriptionsOf(functions, cluster), cluster);
}
