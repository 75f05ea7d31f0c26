/**
 * Echoes: events of a function's own writes, coming back from the API server. The reconcile that wrote has the object
 * in hand, so its event need not wake the key again, in whichever replica the event arrives. Replicas tell each other
 * what they write, over plain NATS.
 *
 * An announcement is believed only as long as the writer certainly owns the key. If the writer dies, the next owner
 * starts later than that, and every event it might not have seen wakes the key as any other does. A reconcile that
 * fails takes its announcements back before the retry can start, unless that is so late that nobody believes them any
 * more. A process that was paused believes nothing that others said: it may have lain in its buffers until long after the
 * writer died. What it said itself it knows as well as before. After a broken connection it believes nothing at all.
 *
 * Announcements are good for a second thing: the object store may not have what was written yet, and each kind comes at
 * its own pace. Whoever has the key next reads at least what was announced, so that an echo is old news to it as well. A
 * replica that may have missed announcements, because it has just begun to listen, says so before it reads: from then on
 * the events of what others wrote for the key are news again.
 */
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { z } from "zod";
import { compareVersions, type ObjectVersion } from "../kube/object.ts";
import { Recent } from "../recent.ts";
import { echoSubject, keyText, type ObjectKey, type QueueScope } from "../subjects.ts";
import type { Doubt } from "./ownership.ts";

/** Echoes of one function. */
export interface Echoes {
  /** A reconcile of the key begins: nothing that others have written may be an echo to it if this replica may not know of it. */
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
  /** What replicas have written for the key a moment ago, as far as it is known, whatever came of their reconciles. */
  written(key: ObjectKey): readonly Written[];
  /** Forgets what may not be true any more. */
  forget(doubt: Doubt): void;
  stop(): void;
}

/** A version of an object that a replica has written. */
export interface Written extends ObjectKey, ObjectVersion {
  readonly group: string;
  readonly kind: string;
}

const wroteSchema = z.object({
  key: z.string(),
  group: z.string(),
  kind: z.string(),
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
  /** For so long its event is an echo. */
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
/** What was said before a replica began to listen is believed no longer than this, however long it was on its way. Milliseconds. */
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
