/** Compares JSON values independent of the order of their fields. */

/** JSON with sorted fields. Omits fields that are undefined. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/** Whether both are the same JSON value. */
export const isSameJson = (one: unknown, other: unknown): boolean =>
  canonicalJson(one) === canonicalJson(other);
