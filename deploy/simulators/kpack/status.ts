/** Writes a status as kpack v0.17.2 does: the whole object, with a resourceVersion, and only if it differs. */
import { isDeepStrictEqual } from "node:util";
import type { Kind, KubeObject, Stored } from "denrei/kinds";
import { type KubeClient, resourcePath } from "denrei/kubernetes";
import type { Condition } from "./kinds.ts";

/** kpack's field manager. */
export const fieldManager = "controller";

/** The condition of that type, if any. */
export const conditionOf = (object: { status?: unknown } | undefined, type: string): Condition | undefined =>
  (object?.status as { conditions?: Condition[] } | undefined)?.conditions?.find((one) => one.type === type);

/** Creates a condition with the current time. Empty strings are omitted. */
export function condition(
  type: string,
  status: Condition["status"],
  reason?: string,
  message?: string,
): Condition {
  return {
    type,
    status,
    lastTransitionTime: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
    ...(reason && { reason }),
    ...(message && { message }),
  };
}

/** Whether two statuses are equal except for transition times. */
export const sameStatus = (a: unknown, b: unknown): boolean => isDeepStrictEqual(timeless(a), timeless(b));

const timeless = (value: unknown): unknown =>
  value === undefined
    ? undefined
    : JSON.parse(JSON.stringify(value, (key, part) => (key === "lastTransitionTime" ? undefined : part)));

/** Replaces the status and resolves to the updated object. Rejects with the API server's error, such as a conflict. */
export async function writeStatus<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  object: Stored<T>,
  status: T["status"],
  signal: AbortSignal,
): Promise<Stored<T>> {
  if (sameStatus(object.status, status)) return object;
  const { namespace, name } = object.metadata;
  return client.request<Stored<T>>({
    method: "PUT",
    path: resourcePath(kind, namespace, name, "status"),
    query: { fieldManager },
    body: { ...object, status },
    signal,
  });
}
