/** The kinds that functions name in their declarations. */
import { type Kind, kindText } from "../kube/kind.ts";
import { haveSameDefinition } from "../kube/samekind.ts";

/** The parts of a function that name kinds. */
export interface Declaration {
  readonly name: string;
  readonly for: Kind;
  readonly owns: readonly Kind[];
  readonly watches: readonly { readonly kind: Kind }[];
}

/** All kinds in the declaration of a function, as often as it names them. */
export const namedKinds = (fn: Declaration): Kind[] => [
  fn.for,
  ...fn.owns,
  ...fn.watches.map((watch) => watch.kind),
];

/**
 * The kinds of these functions that are defined with `defineKind`, and so have a generated CRD; each once. Throws a `TypeError`
 * if one kind has two definitions that differ, for example in version, writers, or refinements: one would be dropped.
 */
export function definedKinds(functions: readonly Declaration[]): Kind[] {
  const found = new Map<string, { readonly kind: Kind; readonly fn: string }>();
  const defined = functions.flatMap((fn) =>
    namedKinds(fn).flatMap((kind) => (kind.definition === undefined ? [] : [{ kind, fn: fn.name }])),
  );
  for (const one of defined)
    for (const name of [kindText(one.kind), `${one.kind.plural}.${one.kind.group}`]) {
      const other = found.get(name);
      if (other === undefined) found.set(name, one);
      else if (!haveSameDefinition(other.kind, one.kind))
        throw new TypeError(
          `found two different definitions of ${name}, ${versionText(other)} and ${versionText(one)}: ` +
            "define it once and import it (copies of a refinement count as different), " +
            "or declare a kind of another project with externalKind",
        );
    }
  return [...new Set([...found.values()].map(({ kind }) => kind))];
}

const versionText = ({ kind, fn }: { readonly kind: Kind; readonly fn: string }): string =>
  `${kind.kind} ${kind.version} in the function ${fn}`;
