/** What a chart returns, as what of it can be sent. */
import { ChartError } from "./chart.ts";

export type Json = string | number | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [field: string]: Json;
}

export const isRecord = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Deeper than any object of Kubernetes; a value that holds itself has no end. */
const maxDepth = 100;

/**
 * A copy as plain JSON, without the fields and elements that have no value (null, undefined). Throws a {@link ChartError} that
 * says where something else is: a function, a Date, NaN.
 */
export function plain(value: unknown, where: string, depth = 0): Json {
  if (depth > maxDepth) {
    throw new ChartError(
      "ChartOutputInvalid",
      `${where.slice(0, 200)}: expected at most ${maxDepth} levels, found more. See that nothing holds itself.`,
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
    `${where}: expected text, a number, true, false, a list or an object, found ${nameOf(value)}. Return plain values.`,
  );
}

/** Objects of other realms have another prototype: they are told by their prototype's own lack of one. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: unknown): string {
  if (typeof value === "object" && value !== null) return `a ${value.constructor?.name ?? "value"}`;
  return typeof value === "function" ? "a function" : String(value);
}
