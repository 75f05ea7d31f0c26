/** Kinds of children that an installation lists in its configuration. */
import type { Kind } from "./kind.ts";

/**
 * Where an installation lists kinds that a function owns in addition to its declared ones. The bridge watches them, and the
 * function writes them. The installation itself applies the role with the permissions.
 */
export interface ListedKinds {
  /** Name of the ConfigMap in the platform's namespace. */
  readonly configMap: string;
  /** Parses the list from the data of the ConfigMap, `{}` without one. Kinds are namespaced. Throws if the list is invalid. */
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
