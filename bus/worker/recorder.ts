/** Records Kubernetes Events (`events.k8s.io/v1`) in the background, so that a failing Event never delays a reconcile. */
import { createHash } from "node:crypto";
import type { Logger } from "pino";
import type { KubeClient } from "../kube/client.ts";
import { resourcePath } from "../kube/client.ts";
import { isAlreadyExists } from "../kube/errors.ts";
import { externalKind } from "../kube/kind.ts";
import type { KubeObject, Stored } from "../kube/object.ts";
import { redacted } from "../values/redact.ts";

interface EventObject extends KubeObject {
  eventTime: string;
  reportingController: string;
  reportingInstance: string;
  action: string;
  reason: string;
  note: string;
  type: string;
  regarding: object;
}

const Event = externalKind<EventObject>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
});

/** Records Events about objects. */
export interface Recorder {
  record(about: Stored, type: "Normal" | "Warning", reason: string, note: string, log: Logger): void;
  /** Waits for pending Events. */
  flush(): Promise<void>;
}

/** The same Event about the same object is recorded once in this period: its name contains Event, object, and period. */
const onceMillis = 3_600_000;
const noteLimit = 1024;
/** Limit of pending Events, so that a failing API server does not fill the memory. */
const maxPending = 500;

/** A recorder for one function. */
export function eventRecorder(client: KubeClient, controller: string, replica: string): Recorder {
  const pending = new Set<Promise<void>>();
  return {
    record(about, type, reason, given, log) {
      if (pending.size >= maxPending) return;
      const note = redacted(given);
      const { namespace, name, uid, resourceVersion } = about.metadata;
      const window = Math.floor(Date.now() / onceMillis);
      const digest = createHash("sha256")
        .update(`${uid} ${type} ${reason} ${note} ${window}`)
        .digest("hex")
        .slice(0, 16);
      const event = {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        // By convention, Events of cluster-scoped objects are in "default".
        metadata: { name: `${name.slice(0, 230)}.${digest}`, namespace: namespace ?? "default" },
        eventTime: new Date().toISOString().replace("Z", "000Z"),
        reportingController: controller,
        reportingInstance: replica.slice(0, 128),
        action: "Reconcile",
        reason,
        note: note.slice(0, noteLimit),
        type,
        regarding: { apiVersion: about.apiVersion, kind: about.kind, namespace, name, uid, resourceVersion },
      };
      const call = client
        .request({ method: "POST", path: resourcePath(Event, event.metadata.namespace), body: event })
        .then(
          () => undefined,
          (error: unknown) => {
            if (!isAlreadyExists(error)) log.warn({ err: error, reason }, "event not recorded");
          },
        )
        .finally(() => pending.delete(call));
      pending.add(call);
    },
    async flush() {
      await Promise.allSettled(pending);
    },
  };
}
