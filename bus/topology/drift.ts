/** Compares the configuration found on the bus with the one that the platform relies on. */

/** Limits of age. An operator may set a longer one or none (0): that serves the platform as well and stays. */
const atLeast: readonly string[] = ["max_age", "duplicate_window"];

/**
 * Whether `found` has every setting of `wanted`; a setting that the server omits has its zero value. Settings that are not
 * in `wanted` belong to the operator: replicas, placement, `max_bytes`, compression.
 */
export function covers(found: object, wanted: object): boolean {
  const values = found as Record<string, unknown>;
  return Object.entries(wanted).every(([name, value]) => {
    const there = values[name] ?? zeroOf(value);
    if (name === "metadata") return covers(there as object, value as object);
    if (isLonger(name, there, value)) return true;
    return JSON.stringify(there) === JSON.stringify(value);
  });
}

/** `wanted` without the settings for which an operator has set a longer limit in `found`. */
export function withoutLonger<T extends object>(found: object, wanted: T): Partial<T> {
  const values = found as Record<string, unknown>;
  const kept = Object.entries(wanted).filter(([name, value]) => !isLonger(name, values[name] ?? 0, value));
  return Object.fromEntries(kept) as Partial<T>;
}

const isLonger = (name: string, found: unknown, wanted: unknown): boolean =>
  atLeast.includes(name) && wanted !== 0 && (found === 0 || Number(found) > Number(wanted));

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
