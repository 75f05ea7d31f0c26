/** The condition message that lists the users of a deleted object, and its parser. Pure. */
import type { KubeObject } from "denrei/kinds";

const beginning = "deletion waits for its users: ";

/** The message for a list of users. */
export const neededBy = (users: readonly Pick<KubeObject, "kind" | "metadata">[]): string =>
  beginning + users.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(", ");

/** `Kind name` of each user in a message; empty for other messages. */
export const usersIn = (message: string): readonly string[] =>
  message.startsWith(beginning) ? message.slice(beginning.length).split(", ") : [];
