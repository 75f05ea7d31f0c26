/** Converts what a chart returns to plain JSON. */
import { ChartError } from "./chart.ts";

export type Json = string | number | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [field: string]: Json;
}

export const isRecord = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Deeper than any Kubernetes object. The limit also ends cycles. */
const maxDepth = 100;

/**
 * A copy as plain JSON, without fields and elements that are null or undefined. Throws a {@link ChartError} with the location of any
 * other value: a function, a Date, NaN.
 */
export function plain(value: unknown, where: string, depth = 0): Json {
  if (depth > maxDepth) {
    throw new ChartError(
      "ChartOutputInvalid",
      `${where.slice(0, 200)}: nested more than ${maxDepth} levels deep. Check for an object that contains itself.`,
    );
  }
  if (Array.isArray(value)) {
    return value
      .filter((element) => element !== null && element !== undefined)
      .map((element, index) => plain(element, `${where}[${index}]`, depth + 1));
  }
  if (isPlainObject(value)) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, field]) => field !== null && field !== undefined)
        .map(([name, field]) => [name, plain(field, `${where}.${name}`, depth + 1)]),
    );
  }
  if (typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) {
    return value as string | boolean | number;
  }
  throw new ChartError(
    "ChartOutputInvalid",
    `${where}: ${nameOf(value)} is not a JSON value. Return only strings, numbers, booleans, arrays, and plain objects.`,
  );
}

/** Objects of other realms have another Object.prototype, which has no prototype itself. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: unknown): string {
  if (typeof value === "object" && value !== null) return `a ${value.constructor?.name ?? "value"}`;
  return typeof value === "function" ? "a function" : String(value);
}
