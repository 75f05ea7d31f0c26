/** The people of a local platform: who can log in at its dashboard. */
import { randomBytes } from "node:crypto";

/** Somebody who can log in. */
export interface DemoPerson {
  readonly name: string;
  readonly password: string;
  readonly groups: readonly string[];
  /** A role that every cluster has, in the namespace of the demo. */
  readonly role: "admin" | "view";
}

/** Alice, who may do everything in a namespace, and Bob, who may look. Their passwords are made up. */
export const inventPeople = (): readonly DemoPerson[] => [
  { name: "alice", groups: ["developers"], role: "admin", password: inventPassword() },
  { name: "bob", groups: ["viewers"], role: "view", password: inventPassword() },
];

const inventPassword = (): string => randomBytes(9).toString("base64url");
