/** Kinds of children that an installation lists in its configuration. */
import type { Kind } from "./kind.ts";

/**
 * Where an installation lists kinds that a function owns beside those of its declaration. The bridge watches them, and the
 * function writes them; the rights come from a role that the installation applies itself.
 */
export interface ListedKinds {
  /** Name of the ConfigMap in the platform's namespace. */
  readonly configMap: string;
  /** Reads the list from the data of the ConfigMap, `{}` without one. Kinds are namespaced. Throws when the list is not valid. */
  kindsIn(data: Readonly<Record<string, string>>): readonly Kind[];
  /** The command that prints the roles, for messages. */
  readonly rightsCommand: string;
}

/** A list, and the name of the function that owns its kinds. */
export interface ListedFor {
  readonly fn: string;
  readonly listed: ListedKinds;
}

/** The list of a function, if it has one. */
export const listOf = (fn: { readonly name: string; readonly ownsListed?: ListedKinds }): ListedFor[] =>
  fn.ownsListed ? [{ fn: fn.name, listed: fn.ownsListed }] : [];
