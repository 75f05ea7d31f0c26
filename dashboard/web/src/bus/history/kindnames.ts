/** Kinds by the names that users search for. Pure. */
import type { FunctionFigures, KindName } from "../../../../api/bus.ts";
import type { Resource } from "../../api/resource.ts";
import * as resources from "../../api/resource.ts";

/** A kind by one of its names. */
export interface KindAlias extends KindName {
  /** Name of the kind, or of a function that reconciles it. */
  readonly alias: string;
}

/** The kinds that the page has screens or lists for. */
export const knownResources: readonly Resource[] = Object.values(resources).filter(
  (exported): exported is Resource => typeof exported === "object",
);

/** All known kinds and the kinds of these functions, sorted by name. */
export function kindAliases(
  functions: readonly Pick<FunctionFigures, "function" | "for">[],
): readonly KindAlias[] {
  const kinds = [...knownResources, ...functions.map(({ for: kind }) => kind)];
  const aliases = [
    ...kinds.map(({ group, kind }) => ({ alias: kind, group, kind })),
    ...functions.map(({ function: alias, for: { group, kind } }) => ({ alias, group, kind })),
  ];
  const unique = new Map(aliases.map((kind) => [`${kind.alias} ${kind.group}`, kind]));
  return [...unique.values()].sort((a, b) => (a.alias < b.alias ? -1 : 1));
}

/** Resolves the name of a kind or function, or a `Kind.group`. An unknown kind counts as one of the Kubernetes core group. */
export function resolveKind(text: string, aliases: readonly KindAlias[]): KindName {
  const [kind = "", ...group] = text.trim().split(".");
  if (group.length > 0) return { group: group.join("."), kind };
  const matches = ({ alias }: KindAlias) => alias.toLowerCase() === kind.toLowerCase();
  const found = aliases.find(matches);
  return found ? { group: found.group, kind: found.kind } : { group: "", kind };
}
