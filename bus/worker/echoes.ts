/**
 * Echoes: the events of a function's own writes. The reconcile that wrote a version has already seen it, so the event does not
 * enqueue the key again, no matter which replica routes it. Replicas announce their writes to each other over plain NATS.
 *
 * An announcement is valid only while the writer certainly owns the key. If the writer dies, the next owner starts after the
 * announcement has expired, and every event enqueues the key as usual. A reconcile that fails retracts its announcements before
 * the retry can start, unless the retry is so late that they have expired. After a pause of the process, announcements of other
 * replicas are no longer valid: they may have waited in its buffers until long after the writer died. After a lost connection,
 * no announcement is valid.
 *
 * Announcements have a second use. The object store lags behind the API server, differently for each kind, so the next owner
 * reads at least the announced versions. This ensures that every later owner has seen an event that was dropped as an echo. A
 * replica that may have missed announcements, because it has just subscribed, retracts those of a key before it reads.
 */
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { z } from "zod";
import { compareVersions } from "../kube/object.ts";
import { objectVersionSchema } from "../queue/request.ts";
import { echoSubject, keyText, type ObjectKey, type QueueScope } from "../subjects.ts";
import { atTurnEnd } from "../values/eventloop.ts";
import { Recent } from "../values/recent.ts";
import type { Staleness } from "./ownership.ts";

/** Echoes of one function. */
export interface Echoes {
  /** Called when a reconcile of the key starts. Retracts the key's announcements if this replica may have missed some. */
  begin(key: ObjectKey): void;
  /**
   * Announces a write of this replica for a key. Its event is an echo for `ownedMillis`, while this replica certainly owns the key.
   * With 0 the event is not an echo, and the announcement only sets a minimum version for reads.
   */
  announce(key: ObjectKey, write: Written, ownedMillis: number): void;
  /** Sends pending announcements now, instead of at the end of this turn of the event loop. */
  flush(): void;
  /** Called when the reconcile of the key failed: its writes are no longer echoes. */
  retract(key: ObjectKey): void;
  /** Whether an event at this version is an echo for the key. */
  has(key: ObjectKey, uid: string, resourceVersion: string): boolean;
  /** The recent writes of all replicas for the key, including those of reconciles that failed. */
  written(key: ObjectKey): readonly Written[];
  /** Drops announcements that may no longer be valid. */
  forget(staleness: Staleness): void;
  stop(): void;
}

/** A version of an object that a replica has written. */
export type Written = Readonly<z.infer<typeof objectVersionSchema>>;

const wroteSchema = z.object({
  key: z.string(),
  ...objectVersionSchema.shape,
  /** How long its event is an echo. */
  millis: z.number(),
});
type Wrote = z.infer<typeof wroteSchema>;

const messageSchema = z.union([z.object({ wrote: z.array(wroteSchema) }), z.object({ retract: z.string() })]);
type Message = z.infer<typeof messageSchema>;

/** Parses a message of another replica; undefined if it is invalid. */
function messageIn(message: Msg): Message | undefined {
  try {
    return messageSchema.parse(message.json());
  } catch {
    // An exception in the callback would stop all reads of the connection.
    return undefined;
  }
}

interface Announced {
  readonly write: Written;
  readonly by: "this replica" | "another";
  readonly at: number;
  /** Its event is an echo until then. Both times are milliseconds of `performance.now()`. */
  until: number;
}

/** Maximum validity of an announcement. An event usually arrives within milliseconds; a later one costs a needless reconcile. */
export const believedMillis = 10_000;
/** After this time, no announcement from before this replica subscribed is still valid. Twice the validity, for slow delivery. */
const completeAfterMillis = 2 * believedMillis;
const keptKeys = 50_000;

/** The announcements that a replica knows, by key. */
class Announcements {
  readonly #keys = new Recent<Map<string, Announced>>({ keptMillis: believedMillis, limit: keptKeys });

  add(by: Announced["by"], { key, millis, ...write }: Wrote): void {
    const announced = this.#keys.get(key) ?? new Map<string, Announced>();
    const before = announced.get(write.uid);
    const order = before ? compareVersions(before.write.resourceVersion, write.resourceVersion) : -1;
    // This replica also receives its own announcements, later than it made them.
    if (order > 0 || (order === 0 && before?.by === "this replica" && by === "another")) return;
    const at = performance.now();
    announced.delete(write.uid);
    announced.set(write.uid, { write, by, at, until: at + Math.min(millis, believedMillis) });
    for (const [uid, { at: announcedAt }] of announced) {
      if (announcedAt > at - believedMillis) break;
      announced.delete(uid);
    }
    this.#keys.set(key, announced);
  }

  /** Ends the validity of a key's announcements. They still set minimum versions for reads. */
  retract(key: string): void {
    for (const entry of this.#keys.get(key)?.values() ?? []) entry.until = 0;
  }

  has(key: string, uid: string, resourceVersion: string): boolean {
    const entry = this.#keys.get(key)?.get(uid);
    if (entry === undefined || performance.now() >= entry.until) return false;
    return compareVersions(entry.write.resourceVersion, resourceVersion) >= 0;
  }

  written(key: string): readonly Written[] {
    return [...(this.#keys.get(key)?.values() ?? [])].map(({ write }) => write);
  }

  /** Ends the validity of all announcements, or of those from other replicas. */
  retractAll(from: "all replicas" | "others"): void {
    for (const [, announced] of this.#keys)
      for (const entry of announced.values())
        if (from === "all replicas" || entry.by === "another") entry.until = 0;
  }
}

/** Opens the echoes of a function. */
export function openEchoes(nc: NatsConnection, scope: QueueScope): Echoes {
  const subject = echoSubject(scope);
  const announcements = new Announcements();
  let outgoing: Wrote[] = [];
  /** From this time on, this replica has received all announcements that are still valid. */
  let completeFrom = performance.now() + completeAfterMillis;

  function send(message: Message): void {
    // Without a connection no replica can receive it, and it would not be valid later.
    if (!nc.isClosed()) nc.publish(subject, JSON.stringify(message));
  }

  function flush(): void {
    if (outgoing.length > 0) send({ wrote: outgoing });
    outgoing = [];
  }

  /** Writes that complete in the same turn of the event loop are announced in one message. */
  const flushAtTurnEnd = atTurnEnd(flush);

  function retract(key: string): void {
    announcements.retract(key);
    send({ retract: key });
  }

  function receive(message: Message | undefined): void {
    if (message === undefined) completeFrom = performance.now() + completeAfterMillis;
    else if ("retract" in message) announcements.retract(message.retract);
    else for (const wrote of message.wrote) announcements.add("another", wrote);
  }

  const subscription = nc.subscribe(subject, {
    callback: (error, message) => (error === null ? receive(messageIn(message)) : undefined),
  });

  return {
    begin(key) {
      if (performance.now() < completeFrom) retract(keyText(key));
    },
    announce(key, write, ownedMillis) {
      const wrote = { ...write, key: keyText(key), millis: Math.floor(ownedMillis) };
      announcements.add("this replica", wrote);
      outgoing.push(wrote);
      flushAtTurnEnd();
    },
    flush,
    retract(key) {
      flush();
      retract(keyText(key));
    },
    has: (key, uid, resourceVersion) => announcements.has(keyText(key), uid, resourceVersion),
    written: (key) => announcements.written(keyText(key)),
    forget(staleness) {
      if (staleness === "disconnected") completeFrom = performance.now() + completeAfterMillis;
      announcements.retractAll(staleness === "disconnected" ? "all replicas" : "others");
    },
    stop: () => subscription.unsubscribe(),
  };
}
