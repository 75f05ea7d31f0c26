/** JSON values that are equal whatever the order of their fields. */

/** JSON with the fields of objects in order. Fields that are undefined are left out. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/** Whether both are the same JSON value. */
export const isSameJson = (one: unknown, other: unknown): boolean =>
  canonicalJson(one) === canonicalJson(other);
