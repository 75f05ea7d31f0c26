/**
 * Publishes activity records, best effort: without waiting for an answer. A record is lost if the bus refuses it or the
 * connection is down.
 */
import { errors, type NatsConnection } from "@nats-io/transport-node";
import { activity, type ObjectKey, type QueueScope } from "../subjects.ts";
import { type EndedReconcile, recordText } from "./record.ts";

/** Reports a reconcile that has ended. */
export type ActivityReporter = (scope: QueueScope, key: ObjectKey, ended: EndedReconcile) => void;

/** Pause after a refusal: servers with permissions of an older version refuse every record. Milliseconds. */
const refusedMillis = 60_000;

/** Opens the reporter of one process. */
export function activityReporter(nc: NatsConnection): ActivityReporter {
  let isConnected = true;
  let refusedUntil = Number.NEGATIVE_INFINITY;
  void (async () => {
    for await (const status of nc.status()) {
      if (status.type === "disconnect") isConnected = false;
      else if (status.type === "reconnect") isConnected = true;
      else if (
        status.type === "error" &&
        status.error instanceof errors.PermissionViolationError &&
        status.error.subject.startsWith("activities.")
      )
        refusedUntil = performance.now() + refusedMillis;
    }
  })();
  return (scope, key, ended) => {
    // Without a connection the client library would buffer the message and discard it on reconnect.
    if (!isConnected || performance.now() < refusedUntil) return;
    try {
      nc.publish(activity.of(scope, key), recordText(ended));
    } catch {
      // The connection is closed, or the record cannot be published.
    }
  };
}
