/** Kinds by the names that users search for. Pure. */
import type { FunctionFigures, KindName } from "../../../../api/bus.ts";
import type { Resource } from "../../api/resource.ts";
import * as resources from "../../api/resource.ts";

/** A kind by one of its names. */
export interface NamedKind extends KindName {
  /** Name of the kind, or of a function that reconciles it. */
  readonly called: string;
}

/** The kinds that the page has screens or lists for. */
export const knownResources: readonly Resource[] = Object.values(resources).filter(
  (exported): exported is Resource => typeof exported === "object",
);

/** All known kinds and the kinds of these functions, sorted by name. */
export function namedKinds(
  functions: readonly Pick<FunctionFigures, "function" | "for">[],
): readonly NamedKind[] {
  const kinds = [...knownResources, ...functions.map(({ for: kind }) => kind)];
  const named = [
    ...kinds.map(({ group, kind }) => ({ called: kind, group, kind })),
    ...functions.map(({ function: called, for: { group, kind } }) => ({ called, group, kind })),
  ];
  const each = new Map(named.map((kind) => [`${kind.called} ${kind.group}`, kind]));
  return [...each.values()].sort((a, b) => (a.called < b.called ? -1 : 1));
}

/** Resolves the name of a kind or function, or a `Kind.group`. An unknown kind counts as one of the Kubernetes core group. */
export function kindCalled(text: string, named: readonly NamedKind[]): KindName {
  const [kind = "", ...group] = text.trim().split(".");
  if (group.length > 0) return { group: group.join("."), kind };
  const isCalled = ({ called }: NamedKind) => called.toLowerCase() === kind.toLowerCase();
  const found = named.find(isCalled);
  return found ? { group: found.group, kind: found.kind } : { group: "", kind };
}
