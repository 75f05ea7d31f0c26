/**
 * Echoes: events of a function's own writes, coming back from the API server. The reconcile that wrote has the object
 * in hand, so its event need not wake the key again, in whichever replica the event arrives. Replicas tell each other
 * what they write, over plain NATS: a message that is lost costs a needless reconcile and nothing else.
 *
 * An announcement is believed only as long as the writer certainly owns the key. If the writer dies, the next owner
 * starts later than that, and every event it might not have seen wakes the key as any other does. A reconcile that
 * fails takes its announcements back before the retry can start, unless that is so late that nobody believes them any
 * more. A process that was paused forgets what others said: it may have lain in its buffers until long after the writer
 * died. What it said itself it knows as well as before. A broken connection forgets all.
 *
 * Announcements are good for a second thing: the object store may have one object of a reconcile's writes and not yet
 * the other, since each kind comes at its own pace. Whoever has the key next knows which versions to read at least.
 */
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { z } from "zod";
import { compareVersions } from "../kube/object.ts";
import { Recent } from "../recent.ts";
import { echoSubject, keyText, type ObjectKey, type QueueScope } from "../subjects.ts";
import type { Doubt } from "./ownership.ts";

/** Echoes of one function. */
export interface Echoes {
  /**
   * This replica has written an object for a key, and its event is an echo for `ownedMillis` more: as long as it owns the key
   * at least. With 0 the event is news to the key, and the version only one that reads must not stay behind.
   */
  announce(key: ObjectKey, uid: string, resourceVersion: string, ownedMillis: number): void;
  /** Sends what is announced; otherwise that happens at the end of the turn. */
  flush(): void;
  /** The reconcile of the key failed: what it wrote is nobody's echo. */
  retract(key: ObjectKey): void;
  /** Whether an event at this version is an echo for the key. */
  has(key: ObjectKey, uid: string, resourceVersion: string): boolean;
  /** The version of an object that a replica has written for the key a moment ago, whatever came of its reconcile. */
  written(key: ObjectKey, uid: string): string | undefined;
  /** Forgets what may not be true any more. */
  forget(doubt: Doubt): void;
  stop(): void;
}

type Message =
  | { readonly wrote: [key: string, uid: string, resourceVersion: string, millis: number][] }
  | { readonly retract: string };

const messageSchema: z.ZodType<Message> = z.union([
  z.object({ wrote: z.array(z.tuple([z.string(), z.string(), z.string(), z.number()])) }),
  z.object({ retract: z.string() }),
]);

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
  readonly key: string;
  readonly resourceVersion: string;
  readonly by: "this replica" | "another";
  /** Until then its event is an echo. Milliseconds of `performance.now()`. */
  until: number;
}

/** An event comes back within milliseconds; one that takes longer than this costs a needless reconcile. Milliseconds. */
export const believedMillis = 10_000;
const keptEntries = 50_000;

/** Opens the echoes of a function. */
export function openEchoes(nc: NatsConnection, scope: QueueScope): Echoes {
  const subject = echoSubject(scope);
  const announced = new Recent<Announced>({ keptMillis: believedMillis, limit: keptEntries });
  let outgoing: [string, string, string, number][] = [];

  function note(
    by: Announced["by"],
    [key, uid, resourceVersion, millis]: [string, string, string, number],
  ): void {
    const before = announced.get(uid);
    const order = before?.key === key ? compareVersions(before.resourceVersion, resourceVersion) : -1;
    // What this replica says comes back to it, later than it was true.
    if (order > 0 || (order === 0 && before?.by === "this replica" && by === "another")) return;
    announced.set(uid, { key, resourceVersion, by, until: performance.now() + millis });
  }

  function retractAll(key: string): void {
    for (const [, entry] of announced) if (entry.key === key) entry.until = 0;
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

  const subscription = nc.subscribe(subject, {
    callback: (error, message) => {
      if (error !== null) return;
      const told = messageIn(message);
      if (told === undefined) return;
      if ("retract" in told) retractAll(told.retract);
      else for (const wrote of told.wrote) note("another", wrote);
    },
  });

  return {
    announce(key, uid, resourceVersion, ownedMillis) {
      const text = keyText(key);
      note("this replica", [text, uid, resourceVersion, ownedMillis]);
      if (outgoing.length === 0) setImmediate(flush);
      outgoing.push([text, uid, resourceVersion, Math.floor(ownedMillis)]);
    },
    flush,
    retract(key) {
      flush();
      retractAll(keyText(key));
      send({ retract: keyText(key) });
    },
    has(key, uid, resourceVersion) {
      const entry = announced.get(uid);
      if (entry === undefined || entry.key !== keyText(key)) return false;
      return performance.now() < entry.until && compareVersions(entry.resourceVersion, resourceVersion) >= 0;
    },
    written(key, uid) {
      const entry = announced.get(uid);
      return entry?.key === keyText(key) ? entry.resourceVersion : undefined;
    },
    forget(doubt) {
      for (const [uid, { by }] of [...announced])
        if (doubt === "disconnected" || by === "another") announced.delete(uid);
    },
    stop: () => subscription.unsubscribe(),
  };
}
