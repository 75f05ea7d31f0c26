/**
 * Telling what was done. Nobody waits for it and nothing fails with it: a record that the bus does not take is lost, and so
 * is one that is made while there is no connection.
 */
import { errors, type NatsConnection } from "@nats-io/transport-node";
import { activity, type ObjectKey, type QueueScope } from "../subjects.ts";
import { type EndedReconcile, recordText } from "./record.ts";

/** Tells that a reconcile has ended. */
export type ActivityReporter = (scope: QueueScope, key: ObjectKey, ended: EndedReconcile) => void;

/** Servers whose users are those of an older version refuse it each time: then it is left for so long. Milliseconds. */
const refusedMillis = 60_000;

/** Opens it for one process. */
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
    // What is published without a connection is kept in memory by the client library, and thrown away when there is one.
    if (!isConnected || performance.now() < refusedUntil) return;
    try {
      nc.publish(activity.of(scope, key), recordText(ended));
    } catch {
      // The connection was closed meanwhile, or no message could be made of it.
    }
  };
}
