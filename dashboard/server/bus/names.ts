/** What the bus calls something, as the page is told of it. */
import { traceId } from "../../../bus/events/trace.ts";
import type { Cause } from "../../../bus/queue/request.ts";
import type { ObjectKey } from "../../../bus/subjects.ts";
import type { ReconcileFunction } from "../../../bus/worker/function.ts";
import type { CauseOf, ObjectName } from "../../api/bus.ts";

/** A cause. */
export function causeOf(cause: Cause): CauseOf {
  if (cause.type !== "object") return cause;
  const { type, resourceVersion, group, kind, namespace, name } = cause;
  return { type, resourceVersion, object: { group, kind, namespace, name } };
}

/** The object of a key. Of a function that this program does not have it is not known of which kind. */
export function objectOf(functions: readonly ReconcileFunction[], fn: string, key: ObjectKey): ObjectName {
  const { group = "", kind = "" } = functions.find(({ name }) => name === fn)?.for ?? {};
  const { namespace, name } = key;
  return { group, kind, namespace, name };
}

/** The id in a `traceparent`. */
export const traceOf = (traceparent: string | undefined): string | null => traceId(traceparent) ?? null;

/** A namespace as a path has it, where it can not be empty. */
export const namespaceIn = (segment: string): string => (segment === "-" ? "" : segment);

/** A time for the page. */
export const timeText = (millis: number): string => new Date(millis).toISOString();
