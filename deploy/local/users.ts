/** Users of a local bus: one for each role and an administrator, with passwords that are made up anew for each run. */
import { randomBytes } from "node:crypto";
import { userOf } from "../../bus/nats/identity.ts";
import type { Role } from "../../bus/permissions.ts";
import type { NatsUser } from "../generate/authorization.ts";

/** Who may do everything: whoever has started the platform. */
export const adminRole: Role = { name: "admin", permissions: undefined, account: "bus" };

/** The users of a run. */
export interface LocalUsers {
  readonly users: readonly NatsUser[];
  /** The address with the user and password of a role. Throws for a role that there is not. */
  urlFor(role: string, url: string): string;
}

/** Makes up passwords for roles. */
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
          `expected a role of the local bus (${[...passwords.keys()].join(", ")}), found "${role}"`,
        );
      }
      return url.replace("://", `://${userOf(role)}:${password}@`);
    },
  };
}
