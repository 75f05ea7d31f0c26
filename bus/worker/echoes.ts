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
 * The first write of a reconcile is announced at once, and says that the reconcile goes on. Later ones are announced together, some
 * milliseconds later or before the ticket is acknowledged. Meanwhile an event of the key waits for the announcement that may make it an echo.
 *
 * Announcements have a second use. The object store lags behind the API server, differently for each kind, so the next owner
 * reads at least the announced versions. This ensures that every later owner has seen an event that was dropped as an echo. A
 * replica that may have missed announcements, because it has just subscribed, retracts those of a key before it reads.
 */
import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import { z } from "zod";
import { compareVersions } from "../kube/object.ts";
import { objectVersionSchema } from "../queue/request.ts";
import { echoSubject, keyText, type ObjectKey, type QueueScope } from "../subjects.ts";
import { atTurnEnd, soon } from "../values/eventloop.ts";
import { Recent } from "../values/recent.ts";
import { OpenReconciles } from "./openreconciles.ts";
import type { Staleness } from "./ownership.ts";

/** Echoes of one function. */
export interface Echoes {
  /**
   * Called when a reconcile of the key starts, which lasts until {@link Echoes.end}. Retracts the key's announcements if this replica
   * may have missed some.
   */
  begin(key: ObjectKey): void;
  /**
   * Announces a write of this replica for a key. Its event is an echo for `ownedMillis`, while this replica certainly owns the key.
   * With 0 the event is not an echo, and the announcement only sets a minimum version for reads.
   */
  announce(key: ObjectKey, write: Written, ownedMillis: number): void;
  /** Called before the ticket of the key is acknowledged: sends its pending announcements. */
  end(key: ObjectKey): void;
  /** Called when the reconcile of the key failed: its writes are no longer echoes. */
  retract(key: ObjectKey): void;
  /** Whether an event at this version is an echo for the key. */
  has(key: ObjectKey, uid: string, resourceVersion: string): boolean;
  /** Like {@link Echoes.has}. During a reconcile of the key, waits for its announcement, for at most a tenth of a second. */
  willHave(key: ObjectKey, uid: string, resourceVersion: string): Promise<boolean>;
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

const announcementSchema = z.object({
  wrote: z.array(wroteSchema),
  /** Keys whose reconcile may write more, and how long their worker certainly owns them, in milliseconds. */
  open: z.record(z.string(), z.number()).optional(),
  /** Keys whose reconcile has ended. */
  ended: z.array(z.string()).optional(),
});
type Announcement = z.infer<typeof announcementSchema>;

const messageSchema = z.union([announcementSchema, z.object({ retract: z.string() })]);
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

/** How long the later writes of a reconcile wait to be announced together. Milliseconds. */
const togetherMillis = 40;
/** How long an event waits for an announcement. Longer than a late one needs. Milliseconds. */
const holdMillis = 100;

/** A write that is not announced yet. */
interface Outgoing extends Omit<Wrote, "millis"> {
  /** Its event is an echo until then: milliseconds of `performance.now()`. */
  readonly until: number;
}

/** Opens the echoes of a function. */
export function openEchoes(nc: NatsConnection, scope: QueueScope): Echoes {
  const echoes = new ReplicaEchoes(nc, scope);
  return {
    begin: (key) => echoes.begin(key),
    announce: (key, write, ownedMillis) => echoes.announce(key, write, ownedMillis),
    end: (key) => echoes.end(key),
    retract: (key) => echoes.retract(key),
    has: (key, uid, resourceVersion) => echoes.has(key, uid, resourceVersion),
    willHave: (key, uid, resourceVersion) => echoes.willHave(key, uid, resourceVersion),
    written: (key) => echoes.written(key),
    forget: (staleness) => echoes.forget(staleness),
    stop: () => echoes.stop(),
  };
}

class ReplicaEchoes implements Echoes {
  readonly #nc: NatsConnection;
  readonly #subject: string;
  readonly #subscription: Subscription;
  readonly #announcements = new Announcements();
  readonly #open = new OpenReconciles();
  /** Reconciles of this replica, and whether they were announced to the others. */
  readonly #own = new Map<string, "unknown" | "announced">();
  #outgoing: Outgoing[] = [];
  #ended: string[] = [];
  /** From this time on, this replica has received all announcements that are still valid. */
  #completeFrom = performance.now() + completeAfterMillis;
  readonly #flushAtTurnEnd = atTurnEnd(() => this.#flush());
  readonly #flushSoon = soon(togetherMillis, () => this.#flush());

  constructor(nc: NatsConnection, scope: QueueScope) {
    this.#nc = nc;
    this.#subject = echoSubject(scope);
    this.#subscription = nc.subscribe(this.#subject, {
      callback: (error, message) => (error === null ? this.#receive(messageIn(message)) : undefined),
    });
  }

  begin(key: ObjectKey): void {
    const text = keyText(key);
    this.#own.set(text, "unknown");
    this.#open.open(text, believedMillis);
    if (performance.now() < this.#completeFrom) this.#retract(text);
  }

  announce(key: ObjectKey, write: Written, ownedMillis: number): void {
    const text = keyText(key);
    this.#announcements.add("this replica", { ...write, key: text, millis: Math.floor(ownedMillis) });
    this.#open.tell(text);
    this.#outgoing.push({ ...write, key: text, until: performance.now() + ownedMillis });
    if (this.#own.get(text) === "announced") {
      this.#flushSoon();
      return;
    }
    if (this.#own.has(text)) this.#own.set(text, "announced");
    this.#flushAtTurnEnd();
  }

  end(key: ObjectKey): void {
    const text = keyText(key);
    const was = this.#own.get(text);
    if (was === undefined) return;
    this.#own.delete(text);
    this.#open.close(text);
    if (was === "announced") this.#ended.push(text);
    if (this.#outgoing.length > 0) this.#flush();
    else if (was === "announced") this.#flushSoon();
  }

  retract(key: ObjectKey): void {
    this.#flush();
    this.#retract(keyText(key));
  }

  has(key: ObjectKey, uid: string, resourceVersion: string): boolean {
    return this.#announcements.has(keyText(key), uid, resourceVersion);
  }

  async willHave(key: ObjectKey, uid: string, resourceVersion: string): Promise<boolean> {
    const text = keyText(key);
    const until = performance.now() + holdMillis;
    while (!this.#announcements.has(text, uid, resourceVersion)) {
      const news = this.#open.news(text, until - performance.now());
      if (news === undefined) return false;
      await news;
    }
    return true;
  }

  written(key: ObjectKey): readonly Written[] {
    return this.#announcements.written(keyText(key));
  }

  forget(staleness: Staleness): void {
    if (staleness === "disconnected") {
      this.#completeFrom = performance.now() + completeAfterMillis;
      // This replica has given up its tickets: what it has not announced yet is only a version to read.
      this.#outgoing = this.#outgoing.map((write) => ({ ...write, until: 0 }));
    }
    this.#announcements.retractAll(staleness === "disconnected" ? "all replicas" : "others");
  }

  stop(): void {
    this.#subscription.unsubscribe();
  }

  #send(message: Message): void {
    // Without a connection no replica can receive it, and it would not be valid later.
    if (!this.#nc.isClosed()) this.#nc.publish(this.#subject, JSON.stringify(message));
  }

  #flush(): void {
    if (this.#outgoing.length + this.#ended.length === 0) return;
    const now = performance.now();
    const wrote = this.#outgoing.map(({ until, ...write }) => ({
      ...write,
      millis: Math.max(0, Math.floor(until - now)),
    }));
    const open: Record<string, number> = {};
    for (const { key, millis } of wrote) if (this.#own.has(key)) open[key] = millis;
    this.#send({ wrote, open, ended: this.#ended });
    this.#outgoing = [];
    this.#ended = [];
  }

  #retract(key: string): void {
    this.#announcements.retract(key);
    this.#send({ retract: key });
  }

  #receive(message: Message | undefined): void {
    if (message === undefined) this.#completeFrom = performance.now() + completeAfterMillis;
    else if ("retract" in message) this.#announcements.retract(message.retract);
    else this.#learn(message);
  }

  #learn({ wrote, open = {}, ended = [] }: Announcement): void {
    for (const one of wrote) {
      this.#announcements.add("another", one);
      this.#open.tell(one.key);
    }
    // This replica also receives its own messages, later than it knows.
    for (const [key, millis] of Object.entries(open)) if (!this.#own.has(key)) this.#open.open(key, millis);
    for (const key of ended) if (!this.#own.has(key)) this.#open.close(key);
  }
}
