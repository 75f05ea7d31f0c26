/** Lists of environment variables in a draft. Pure. */
import type { Assignment } from "./dotenv.ts";
import { text } from "./text.ts";

interface KeyRef {
  readonly name?: string;
  readonly key?: string;
}

/** A variable, perhaps incomplete. */
export interface Variable {
  readonly name?: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: KeyRef; readonly configMapKeyRef?: KeyRef };
}

/** Where a value can come from, with labels. */
export const sources = [
  ["value", text.variables.sources.value],
  ["secretKeyRef", text.variables.sources.secretKeyRef],
  ["configMapKeyRef", text.variables.sources.configMapKeyRef],
] as const;

/** Where a value comes from. */
export type Source = (typeof sources)[number][0];

/** Where the value of a variable comes from. */
export const sourceOf = ({ valueFrom }: Variable): Source =>
  valueFrom === undefined ? "value" : valueFrom.configMapKeyRef ? "configMapKeyRef" : "secretKeyRef";

/** The variable with another source, which is empty. */
export const withSource = ({ name }: Variable, source: Source): Variable => ({
  ...(name !== undefined && { name }),
  ...(source === "value" ? { value: "" } : { valueFrom: { [source]: { name: "", key: "" } } }),
});

const isEmpty = (variable: Variable): boolean =>
  !variable.name && !variable.value && sourceOf(variable) === "value";

/**
 * Adds pasted variables in place of the empty row `at`, if given, or else at the end. A plain value with the same name is replaced; a
 * key of a Secret or ConfigMap is not, so that the form reports the duplicate.
 */
export function withPasted(
  variables: readonly Variable[],
  pasted: readonly Assignment[],
  at = variables.length,
): { readonly variables: readonly Variable[]; readonly added: number; readonly replaced: number } {
  const isPlain = (variable: Variable) => sourceOf(variable) === "value";
  const given = new Map(pasted.map((one) => [one.name, one]));
  const kept = variables.map((variable) => {
    const replacement = isPlain(variable) && variable.name ? given.get(variable.name) : undefined;
    if (replacement) given.delete(replacement.name);
    return replacement ?? variable;
  });
  const target = kept[at];
  const isFree = target !== undefined && isEmpty(target);
  return {
    variables: kept.toSpliced(isFree ? at : target ? at + 1 : at, isFree ? 1 : 0, ...given.values()),
    added: given.size,
    replaced: pasted.length - given.size,
  };
}
