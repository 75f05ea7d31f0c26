/** Writing the status of an object as kpack v0.17.2 does: the whole object, conditionally, and only when something is different. */
import { isDeepStrictEqual } from "node:util";
import { type KubeClient, resourcePath } from "../../../bus/kube/client.ts";
import type { Kind } from "../../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import type { Condition } from "./kinds.ts";

/** kpack's field manager. */
export const fieldManager = "controller";

/** The condition of that type, if there is one. */
export const conditionOf = (object: { status?: unknown } | undefined, type: string): Condition | undefined =>
  (object?.status as { conditions?: Condition[] } | undefined)?.conditions?.find((one) => one.type === type);

/** A condition of now. Empty texts are left out. */
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

/** Whether two statuses are the same but for when their conditions became so. */
export const sameStatus = (a: unknown, b: unknown): boolean => isDeepStrictEqual(timeless(a), timeless(b));

const timeless = (value: unknown): unknown =>
  value === undefined
    ? undefined
    : JSON.parse(JSON.stringify(value, (key, part) => (key === "lastTransitionTime" ? undefined : part)));

/**
 * Replaces the status. Throws what the API server says, so a conflict when the object was written meanwhile. Resolves to the
 * object as it is now.
 */
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
