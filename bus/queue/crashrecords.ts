/**
 * Starts of reconciles whose predecessor never ended: what is left of them when a process dies says which object it
 * may have died of.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { newestVersion, type ObjectVersion } from "../kube/object.ts";
import type { Bus } from "../nats/connect.ts";
import { type ObjectKey, type QueueScope, streams, work } from "../subjects.ts";
import { emptyTtl, replaceLast } from "./replacelast.ts";

/** The starts of one function in one cluster. */
export interface CrashRecords {
  /**
   * Notes a start of a reconcile that reads the object at this version at least, and that may have written already. A worker
   * that lives on takes it back or forgets all; one that is killed by the object can not.
   */
  add(key: ObjectKey, version?: ObjectVersion, wrote?: boolean): Promise<CrashRecord>;
  /** The reconcile has written something: should its process die, the object got somewhere. */
  wrote(key: ObjectKey, start: CrashRecord): Promise<void>;
  /** The process lives: takes its start back, and no other's. */
  remove(key: ObjectKey, start: CrashRecord): Promise<void>;
  /** A reconcile came to its end, whatever that was: all starts are history. */
  clear(key: ObjectKey): Promise<void>;
}

/** Starts of which nobody came back. */
export interface Crashes {
  readonly all: number;
  /** Those that had not written anything. */
  readonly withoutWrite: number;
}

/** A start that was noted. */
export interface CrashRecord {
  /** Tells it from the others. */
  readonly id: string;
  /** Those before it, of which nobody came back. */
  readonly before: Crashes;
  /** The newest version that those had read for certain. */
  readonly lastRead: ObjectVersion | undefined;
}

/** An old crash says nothing about the object of today. NATS duration text. */
const crashTtl = "1h";
const retryMillis = 20;

const versionSchema: z.ZodType<ObjectVersion> = z.object({ uid: z.string(), resourceVersion: z.string() });
const recordsSchema = z.array(
  z.object({ id: z.string(), version: versionSchema.optional(), wrote: z.boolean().optional() }),
);
type StoredRecord = z.infer<typeof recordsSchema>[number];

/** The starts in a text. What can not be read says nothing about an object. */
function recordsIn(text: string): StoredRecord[] {
  try {
    return recordsSchema.parse(JSON.parse(text));
  } catch {
    return [];
  }
}

/** Opens the starts of a function. */
export function openCrashRecords(bus: Pick<Bus, "inbox" | "stuck" | "jsm">, scope: QueueScope): CrashRecords {
  /** Changes the starts of a key, unless `to` says that nothing changes; returns those that there were. */
  async function change(
    key: ObjectKey,
    to: (starts: StoredRecord[]) => StoredRecord[] | "as they are",
  ): Promise<StoredRecord[]> {
    const subject = work.crashes(scope, key);
    for (;;) {
      const message = await bus.jsm.direct.getMessage(streams.deadLetters, { last_by_subj: subject });
      const before = message === null ? [] : recordsIn(message.string());
      const after = to(before);
      if (after === "as they are") return before;
      const [text, ttl] = after.length === 0 ? ["", emptyTtl] : [JSON.stringify(after), crashTtl];
      if ((await replaceLast(bus, subject, message?.seq ?? 0, text, ttl)) === "replaced") return before;
      // Another worker was faster, or a replica of the stream lags behind.
      await sleep(retryMillis);
    }
  }

  return {
    async add(key, version, wrote = false) {
      const id = randomUUID();
      const found = await change(key, (starts) =>
        // Noted already, where only the answer was lost: it is not a start of another one.
        has(starts, id) ? "as they are" : [...starts, { id, version, wrote }],
      );
      const before = without(found, id);
      return {
        id,
        before: { all: before.length, withoutWrite: before.filter((start) => !start.wrote).length },
        lastRead: newestVersion(before.map((start) => start.version)),
      };
    },
    async wrote(key, { id }) {
      await change(key, (starts) =>
        has(starts, id)
          ? starts.map((start) => (start.id === id ? { ...start, wrote: true } : start))
          : "as they are",
      );
    },
    async remove(key, { id }) {
      await change(key, (starts) => (has(starts, id) ? without(starts, id) : "as they are"));
    },
    async clear(key) {
      await change(key, (starts) => (starts.length === 0 ? "as they are" : []));
    },
  };
}

const has = (starts: readonly StoredRecord[], id: string): boolean => starts.some((start) => start.id === id);
const without = (starts: readonly StoredRecord[], id: string): StoredRecord[] =>
  starts.filter((start) => start.id !== id);
