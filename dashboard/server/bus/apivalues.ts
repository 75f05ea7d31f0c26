/** Converts values of the bus to those of the API. */
import { type Cause, type ObjectKey, traceId } from "denrei/bus";
import type { ReconcileFunction } from "denrei/runtime";
import type { ObjectName, ReconcileCause } from "../../api/bus.ts";

export function apiCause(cause: Cause): ReconcileCause {
  if (cause.type !== "object") return cause;
  const { type, resourceVersion, group, kind, namespace, name } = cause;
  return { type, resourceVersion, object: { group, kind, namespace, name } };
}

/** The object of a key. Group and kind are empty if this program does not have the function. */
export function apiObject(functions: readonly ReconcileFunction[], fn: string, key: ObjectKey): ObjectName {
  const { group = "", kind = "" } = functions.find(({ name }) => name === fn)?.for ?? {};
  const { namespace, name } = key;
  return { group, kind, namespace, name };
}

/** The trace ID of a `traceparent`. */
export const apiTrace = (traceparent: string | undefined): string | null => traceId(traceparent) ?? null;

/** The namespace of a path segment, where `-` stands for a cluster-scoped object. */
export const namespaceIn = (segment: string): string => (segment === "-" ? "" : segment);

export const apiTime = (millis: number): string => new Date(millis).toISOString();
