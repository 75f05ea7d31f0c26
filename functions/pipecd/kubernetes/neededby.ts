/** What is deleted and still needed says by whom, in a sentence that can be read again. Pure. */
import type { KubeObject } from "../../../bus/kube/object.ts";

const beginning = "it goes when these are gone: ";

/** As it is said in the message of a condition. */
export const neededBy = (users: readonly Pick<KubeObject, "kind" | "metadata">[]): string =>
  beginning + users.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(", ");

/** `Kind name` of each that a message names; none where it says something else. */
export const usersIn = (message: string): readonly string[] =>
  message.startsWith(beginning) ? message.slice(beginning.length).split(", ") : [];
