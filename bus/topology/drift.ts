/** Compares the configuration found on the bus with the one that the platform relies on. */

/** Limits of age. An operator may set a longer one or none (0): that serves the platform as well and stays. */
const atLeast: readonly string[] = ["max_age", "duplicate_window"];

/**
 * Whether `found` has every setting of `desired`; a setting that the server omits has its zero value. Settings that are not
 * in `desired` belong to the operator: replicas, placement, `max_bytes`, compression.
 */
export function isInPlace(found: object, desired: object): boolean {
  const values = found as Record<string, unknown>;
  return Object.entries(desired).every(([name, value]) => {
    const there = values[name] ?? zeroOf(value);
    if (name === "metadata") return isInPlace(there as object, value as object);
    if (isLonger(name, there, value)) return true;
    return JSON.stringify(there) === JSON.stringify(value);
  });
}

/** `desired` without the settings for which an operator has set a longer limit in `found`. */
export function withoutLonger<T extends object>(found: object, desired: T): Partial<T> {
  const values = found as Record<string, unknown>;
  const kept = Object.entries(desired).filter(([name, value]) => !isLonger(name, values[name] ?? 0, value));
  return Object.fromEntries(kept) as Partial<T>;
}

const isLonger = (name: string, found: unknown, desired: unknown): boolean =>
  atLeast.includes(name) && desired !== 0 && (found === 0 || Number(found) > Number(desired));

const zeroOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return [];
  switch (typeof value) {
    case "boolean":
      return false;
    case "number":
      return 0;
    case "string":
      return "";
    default:
      return {};
  }
};
