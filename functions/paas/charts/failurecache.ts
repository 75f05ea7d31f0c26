/** Remembers failed renderings that were expensive, so that they are not repeated for a while. */
import { createHash } from "node:crypto";
import type { ChartError } from "./chart.ts";

/** Failures by key. */
export interface FailureCache {
  /** The failure, while it is remembered. */
  find(key: string): ChartError | undefined;
  add(key: string, error: ChartError): void;
}

/** Maximum number of failures. If there are more, the cause is not a single Application. */
const most = 1000;

/** Remembers each failure for `millis`, by a clock in milliseconds. */
export function failureCache(millis: number, now: () => number): FailureCache {
  const failures = new Map<string, { readonly error: ChartError; readonly until: number }>();
  return {
    find(key) {
      const failure = failures.get(key);
      if (failure === undefined) return undefined;
      if (now() < failure.until) return failure.error;
      failures.delete(key);
      return undefined;
    },
    add(key, error) {
      const [oldest] = failures.keys();
      if (failures.size >= most && oldest !== undefined) failures.delete(oldest);
      failures.set(key, { error, until: now() + millis });
    },
  };
}

/** Digest of the values' JSON. */
export const digestOf = (...values: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(values)).digest("hex");
