/** The users of a local platform, who can log in at its dashboard. */
import { randomBytes } from "node:crypto";

/** A user with a password. */
export interface DashboardUser {
  readonly name: string;
  readonly password: string;
  readonly groups: readonly string[];
  /** A ClusterRole that every cluster has; bound in the namespace of the demo. An admin may also write Pipeds there. */
  readonly role: "admin" | "view";
}

/** Alice, an administrator of one namespace, and Bob, who may only read, with random passwords. */
export const createUsers = (): readonly DashboardUser[] => [
  { name: "alice", groups: ["developers"], role: "admin", password: randomPassword() },
  { name: "bob", groups: ["viewers"], role: "view", password: randomPassword() },
];

const randomPassword = (): string => randomBytes(9).toString("base64url");
