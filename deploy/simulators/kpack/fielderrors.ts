/** What the stand-in for kpack v0.17.2 finds wrong with an object, in the words of knative's `apis.FieldError`. */

/** One complaint. Those with the same words become one, of all their paths. */
export interface FieldError {
  readonly message: string;
  /** From the object's root: `spec.tag`. */
  readonly path: string;
  readonly details?: string;
}

export const missing = (path: string): FieldError => ({ message: "missing field(s)", path });

export const invalid = (value: string, path: string): FieldError => ({
  message: `invalid value: ${value}`,
  path,
});

/** Nothing when it is as it was. */
export const immutable = (before: string, now: string, path: string): FieldError[] =>
  before === now
    ? []
    : [{ message: "Immutable field changed", path, details: `got: ${now}, want: ${before}` }];

/** All of it as one text: complaints by their words, paths in their order. */
export function describe(errors: readonly FieldError[]): string {
  const byWords = new Map<string, string[]>();
  for (const { message, path, details = "" } of errors) {
    const words = JSON.stringify([message, details]);
    byWords.set(words, [...(byWords.get(words) ?? []), path]);
  }
  return [...byWords]
    .map(
      ([words, paths]) => [...(JSON.parse(words) as [string, string]), [...new Set(paths)].sort()] as const,
    )
    .sort(([a, aDetails], [b, bDetails]) => compare(a, b) || compare(aDetails, bDetails))
    .map(([message, details, paths]) => `${message}: ${paths.join(", ")}${details && `\n${details}`}`)
    .join("\n");
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
