/**
 * Echoes: the events of a function's own writes. The reconcile that wrote an object has already seen it, so its event need
 * not wake the key again, no matter which replica routes it. Replicas announce their writes to each other over plain NATS.
 *
 * An announcement is valid only while the writer certainly owns the key. If the writer dies, the next owner starts after it
 * has expired, and every event wakes the key as usual. A reconcile that fails retracts its announcements before the retry can
 * start, unless the retry is so late that they have expired. After a pause of the process, announcements of other replicas
 * are no longer valid: they may have waited in its buffers until long after the writer died. After a lost connection, none are.
 *
 * Announcements have a second use. The object store lags behind the API server, and each kind at its own pace, so the next
 * owner reads at least the announced versions: an event that is dropped as an echo has been seen by every owner since. A
 * replica that may have missed announcements, because it subscribed a moment ago, retracts those of a key before it reads.
 */
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { z } from "zod";
import { compareVersions } from "../kube/object.ts";
import { objectVersionSchema } from "../queue/request.ts";
import { echoSubject, keyText, type ObjectKey, type QueueScope } from "../subjects.ts";
import { Recent } from "../values/recent.ts";
import type { Staleness } from "./ownership.ts";

/** Echoes of one function. */
export interface Echoes {
  /** A reconcile of the key begins. Retracts its announcements if this replica may have missed some of them. */
  begin(key: ObjectKey): void;
  /**
   * This replica has written an object for a key, and its event is an echo for `ownedMillis` more: as long as it owns the key
   * at least. With 0 the event is news to the key, and the version only one that reads must not stay behind.
   */
  announce(key: ObjectKey, write: Written, ownedMillis: number): void;
  /** Sends what is announced; otherwise that happens at the end of the turn. */
  flush(): void;
  /** The reconcile of the key failed: what it wrote is nobody's echo. */
  retract(key: ObjectKey): void;
  /** Whether an event at this version is an echo for the key. */
  has(key: ObjectKey, uid: string, resourceVersion: string): boolean;
  /** The recent writes of all replicas for the key, including those of reconciles that failed. */
  written(key: ObjectKey): readonly Written[];
  /** Forgets what may not be true any more. */
  forget(doubt: Staleness): void;
  stop(): void;
}

/** A version of an object that a replica has written. */
export type Written = Readonly<z.infer<typeof objectVersionSchema>>;

const wroteSchema = z.object({
  key: z.string(),
  ...objectVersionSchema.shape,
  /** Its event is an echo for this time. */
  millis: z.number(),
});
type Wrote = z.infer<typeof wroteSchema>;

const messageSchema = z.union([z.object({ wrote: z.array(wroteSchema) }), z.object({ retract: z.string() })]);
type Message = z.infer<typeof messageSchema>;

/** What another replica says; undefined when it is nothing that a replica would say. */
function messageIn(message: Msg): Message | undefined {
  try {
    return messageSchema.parse(message.json());
  } catch {
    // What throws in here would end the reading of the whole connection.
    return undefined;
  }
}

interface Announced {
  readonly write: Written;
  readonly by: "this replica" | "another";
  readonly at: number;
  /** Until then its event is an echo. Both are milliseconds of `performance.now()`. */
  until: number;
}

/** An event comes back within milliseconds; one that takes longer than this costs a needless reconcile. Milliseconds. */
export const believedMillis = 10_000;
/** After this time no replica holds a valid announcement from before this one subscribed. Twice the validity, for slow delivery. */
const unheardMillis = 2 * believedMillis;
const keptKeys = 50_000;

/** Opens the echoes of a function. */
export function openEchoes(nc: NatsConnection, scope: QueueScope): Echoes {
  const subject = echoSubject(scope);
  const keys = new Recent<Map<string, Announced>>({ keptMillis: believedMillis, limit: keptKeys });
  let outgoing: Wrote[] = [];
  let hasHeardAllFrom = performance.now() + unheardMillis;

  function note(by: Announced["by"], { key, millis, ...write }: Wrote): void {
    const announced = keys.get(key) ?? new Map<string, Announced>();
    const before = announced.get(write.uid);
    const order = before ? compareVersions(before.write.resourceVersion, write.resourceVersion) : -1;
    // What this replica says comes back to it, later than it was true.
    if (order > 0 || (order === 0 && before?.by === "this replica" && by === "another")) return;
    const at = performance.now();
    announced.delete(write.uid);
    announced.set(write.uid, { write, by, at, until: at + Math.min(millis, believedMillis) });
    for (const [uid, { at: said }] of announced) {
      if (said > at - believedMillis) break;
      announced.delete(uid);
    }
    keys.set(key, announced);
  }

  function retractAll(key: string): void {
    for (const entry of keys.get(key)?.values() ?? []) entry.until = 0;
  }

  function send(message: Message): void {
    // Without a connection there is nobody to tell, and nothing that would be right to say later.
    if (!nc.isClosed()) nc.publish(subject, JSON.stringify(message));
  }

  /** Writes that answer in the same turn of the event loop travel together. */
  function flush(): void {
    if (outgoing.length > 0) send({ wrote: outgoing });
    outgoing = [];
  }

  function retract(key: string): void {
    retractAll(key);
    send({ retract: key });
  }

  const subscription = nc.subscribe(subject, {
    callback: (error, message) => {
      if (error !== null) return;
      const told = messageIn(message);
      if (told === undefined) hasHeardAllFrom = performance.now() + unheardMillis;
      else if ("retract" in told) retractAll(told.retract);
      else for (const wrote of told.wrote) note("another", wrote);
    },
  });

  return {
    begin(key) {
      if (performance.now() < hasHeardAllFrom) retract(keyText(key));
    },
    announce(key, write, ownedMillis) {
      const wrote = { ...write, key: keyText(key), millis: Math.floor(ownedMillis) };
      note("this replica", wrote);
      if (outgoing.length === 0) setImmediate(flush);
      outgoing.push(wrote);
    },
    flush,
    retract(key) {
      flush();
      retract(keyText(key));
    },
    has(key, uid, resourceVersion) {
      const entry = keys.get(keyText(key))?.get(uid);
      if (entry === undefined || performance.now() >= entry.until) return false;
      return compareVersions(entry.write.resourceVersion, resourceVersion) >= 0;
    },
    written: (key) => [...(keys.get(keyText(key))?.values() ?? [])].map(({ write }) => write),
    forget(doubt) {
      if (doubt === "disconnected") hasHeardAllFrom = performance.now() + unheardMillis;
      for (const [, announced] of keys)
        for (const entry of announced.values())
          if (doubt === "disconnected" || entry.by === "another") entry.until = 0;
    },
    stop: () => subscription.unsubscribe(),
  };
}
