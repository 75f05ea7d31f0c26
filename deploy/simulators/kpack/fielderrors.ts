/** Validation errors in the format of knative's `apis.FieldError`. */

/** One error. Errors with the same message and details are merged into one with all paths. */
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

/** No error if the value is unchanged. */
export const immutable = (before: string, now: string, path: string): FieldError[] =>
  before === now
    ? []
    : [{ message: "Immutable field changed", path, details: `got: ${now}, want: ${before}` }];

/** Formats all errors, sorted by message and path. */
export function describe(errors: readonly FieldError[]): string {
  const byMessage = new Map<string, string[]>();
  for (const { message, path, details = "" } of errors) {
    const key = JSON.stringify([message, details]);
    byMessage.set(key, [...(byMessage.get(key) ?? []), path]);
  }
  return [...byMessage]
    .map(([key, paths]) => [...(JSON.parse(key) as [string, string]), [...new Set(paths)].sort()] as const)
    .sort(([a, aDetails], [b, bDetails]) => compare(a, b) || compare(aDetails, bDetails))
    .map(([message, details, paths]) => `${message}: ${paths.join(", ")}${details && `\n${details}`}`)
    .join("\n");
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
